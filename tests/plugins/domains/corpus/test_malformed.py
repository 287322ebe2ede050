"""Malformed corpora, fifty of each published form: every one ends in one line."""

from __future__ import annotations

import gzip
import io
import lzma
import subprocess
import sys
import tarfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.errors import DataError
from plugins.domains.corpus import sources
from tests.plugins.domains.corpus.published import FORMS, converted, laid_out

FIRST = {
    "front_matter": "0001-spreadsheet.md",
    "adr": "0003-queue-mail.md",
    "peps": "pep-8801.rst",
    "eips": "eip-9001.md",
    "jsonl": "decisions.jsonl",
}
"""Of each form, the file that is spoilt; it has a header."""

Change = Callable[[str], bytes]


def _text(change: Callable[[str], str]) -> Change:
    return lambda text: change(text).encode()


def _swap(old: str, new: str) -> Change:
    def change(text: str) -> bytes:
        assert old in text, old
        return text.replace(old, new, 1).encode()

    return change


BYTES: dict[str, Change] = {
    "latin-1": lambda text: text.encode() + "é".encode("latin-1"),
    "utf-16": lambda text: text.encode("utf-16"),
    "a torn character": lambda text: text.encode() + b"\xe2\x82",
    "an overlong character": lambda text: b"\xc0\xaf" + text.encode(),
    "a lone surrogate": lambda text: text.encode() + b"\xed\xa0\x80",
    "random bytes": lambda _: bytes(range(256)) * 8,
    "too long": lambda text: text.encode() + b"x" * (sources.MOST_BYTES + 1),
    "gzip": lambda text: gzip.compress(text.encode(), mtime=0),
}
YAML_HEADER: dict[str, Change] = {
    "header without an end": _text(lambda t: t.replace("\n---\n", "\n", 1)),
    "a list as header": lambda _: b"---\n- a\n- b\n---\ntext\n",
    "a text as header": lambda _: b"---\njust words\n---\ntext\n",
    "an empty header": lambda _: b"---\n---\ntext\n",
    "tabs for spaces": _text(lambda t: t.replace("---\n", "---\na:\n\t- b\n", 1)),
    "an open bracket": _text(lambda t: t.replace("---\n", "---\nrequires: [a, b\n", 1)),
    "an open quote": _text(lambda t: t.replace("---\n", '---\nrequires: "a\n', 1)),
    "two colons": _text(lambda t: t.replace("---\n", "---\nrequires: a: b\n", 1)),
    "brackets a thousand deep": _text(
        lambda t: t.replace("---\n", f"---\nrequires: {'[' * 1000}{']' * 1000}\n", 1)
    ),
    "braces thirty thousand deep": _text(
        lambda t: t.replace("---\n", f"---\nrequires: {'{' * 30_000}\n", 1)
    ),
    "aliases of aliases": _text(
        lambda t: t.replace("---\n", "---\na: &a [x, x]\nrequires: [*a, *a]\n", 1)
    ),
    "a key twice": _text(lambda t: t.replace("---\n", "---\nx: a\nx: b\n", 1)),
    "an alias of nothing": _text(lambda t: t.replace("---\n", "---\nrequires: *b\n", 1)),
    "a tag that runs code": _text(
        lambda t: t.replace("---\n", "---\nrequires: !!python/object/apply:os.abort [H-99]\n", 1)
    ),
    "a control character": _text(lambda t: t.replace("---\n", "---\nrequires: \x01\n", 1)),
    "a null character": _text(lambda t: t.replace("---\n", "---\nrequires: a\x00b\n", 1)),
    "a header of a megabyte": _text(lambda t: t.replace("---\n", f"---\n# {'x' * 10**6}\n", 1)),
    "a mapping for a link": _text(lambda t: t.replace("---\n", "---\nrequires: {a: b}\n", 1)),
    "lists in lists for a link": _text(
        lambda t: t.replace("---\n", "---\nrequires: [[[[[[a]]]]]]\n", 1)
    ),
    "a TOML header": lambda _: b"+++\ntitle = 'a'\n+++\ntext\n",
}
HEADER: dict[str, dict[str, Change]] = {
    "front_matter": {
        "no date": _swap("date: 2019-02-01\n", ""),
        "an empty date": _swap("date: 2019-02-01", "date:"),
        "a list of dates": _swap("date: 2019-02-01", "date: [2019-02-01, 2020-01-01]"),
        "a mapping of dates": _swap("date: 2019-02-01", "date: {a: 1}"),
        "a mapping as id": _swap("id: H-1", "id: {a: b}"),
        "a mapping as title": _swap("title: Bookings in a spreadsheet", "title: {a: b}"),
        "the id of another": _swap("id: H-1", "id: H-2"),
        "supersedes itself": _swap("[H-2]", "[H-1]"),
        "supersedes itself by its file": _swap("[H-2]", "0001-spreadsheet.md"),
        "supersedes nobody": _swap("[H-2]", "[H-99]"),
        "one of two is nobody": _swap("[H-2]", "[H-2, H-99]"),
        "a ring": _swap("superseded_by: [H-2]", "superseded_by: [H-2]\nsupersedes: H-2"),
        "a link to a folder": _swap("[H-2]", "../../sub"),
        "a link of a megabyte's depth": _swap("[H-2]", "[" + "H-9," * 9_000 + "]"),
    },
    "adr": {
        "no date": _swap("date: 2024-01-05\n", ""),
        "an empty date": _swap("date: 2024-01-05", "date:"),
        "a list of dates": _swap("date: 2024-01-05", "date: [2024-01-05, 2020-01-01]"),
        "a mapping of dates": _swap("date: 2024-01-05", "date: {a: 1}"),
        "the id of another": _swap("status: accepted", "id: adr-2"),
        "supersedes itself": _swap("status: accepted", "supersedes: ADR-3"),
        "supersedes itself by its file": _swap("status: accepted",
                                               "supersedes: 0003-queue-mail.md"),
        "supersedes nobody": _swap("status: accepted", "supersedes: ADR-99"),
        "superseded by nobody": _swap("status: accepted", 'status: "superseded by ADR-99"'),
        "one of two is nobody": _swap("status: accepted", "requires: [ADR-1, ADR-99]"),
        "a ring": _swap("status: accepted", "supersedes: [4]"),
        "a ring of three": _swap("status: accepted", "superseded by: [1]\nsupersedes: [2]"),
        "a link to a folder": _swap("status: accepted", "requires: ../elsewhere/"),
        "a mapping as title": _swap("status: accepted", "title: {a: b}"),
    },
    "peps": {
        f"no {name}": (lambda text, name=name: "\n".join(  # type: ignore[misc]
            line for line in text.split("\n") if not line.startswith(f"{name}:")).encode())
        for name in ("PEP", "Title", "Status", "Type", "Created")
    } | {
        f"an empty {name}": (lambda text, name=name: "\n".join(  # type: ignore[misc]
            f"{name}:" if line.startswith(f"{name}:") else line
            for line in text.split("\n")).encode())
        for name in ("PEP", "Title", "Status", "Type", "Created")
    } | {
        "a number in words": _swap("PEP: 8801", "PEP: first"),
        "a number of a thousand digits": _swap("PEP: 8801", "PEP: " + "9" * 1000),
        "the number of another": _swap("PEP: 8801", "PEP: 8802"),
        "supersedes itself": _swap("Superseded-By: 8802", "Superseded-By: 8801"),
        "superseded by nobody": _swap("Superseded-By: 8802", "Superseded-By: 9999"),
        "one of two is nobody": _swap("Superseded-By: 8802", "Superseded-By: 8802, 9999"),
        "requires nobody": _swap("Superseded-By: 8802", "Requires: 1"),
        "a ring": _swap("Superseded-By: 8802", "Superseded-By: 8802\nReplaces: 8802"),
        "a link of a million": _swap("Superseded-By: 8802", "Superseded-By: " + "7 " * 10**5),
        "a date in ISO form": _swap("03-Feb-2001", "2001-02-03"),
        "a month alone": _swap("03-Feb-2001", "Feb-2001"),
        "no such month": _swap("03-Feb-2001", "03-Foo-2001"),
        "no such day": _swap("03-Feb-2001", "30-Feb-2001"),
        "two dates": _swap("03-Feb-2001", "03-Feb-2001, 04-Feb-2001"),
        "no header": lambda _: b"Abstract\n========\n\nText.\n",
        "an empty file": lambda _: b"",
        "blanks alone": lambda _: b" \n\n \t\n",
        "a header in lower case": _text(lambda t: t.replace("PEP:", "pep:")),
        "a header after the text": _text(lambda t: "Abstract\n\n" + t),
        "a header of spaces": _text(lambda t: " " * 10**6 + t),
        "HTML": lambda _: b"<!doctype html><title>404</title>",
        "JSON": lambda _: b'{"PEP": 8801}',
        "equals signs": _text(lambda t: t.replace(": ", "= ")),
        "a field cut off": _text(lambda t: t[: t.index("Type:")]),
        "fields joined": _text(lambda t: t.replace("\nTitle", ", Title")),
        "a number of noughts": _swap("PEP: 8801", "PEP: 0"),
        "a number with a sign": _swap("PEP: 8801", "PEP: -8801"),
        "a date of spaces": _swap("03-Feb-2001", " " * 10**5),
    },
    "eips": {
        f"no {name}": (lambda text, name=name: "\n".join(  # type: ignore[misc]
            line for line in text.split("\n") if not line.startswith(f"{name}:")).encode())
        for name in ("eip", "title", "status", "type", "created")
    } | {
        f"an empty {name}": (lambda text, name=name: "\n".join(  # type: ignore[misc]
            f"{name}:" if line.startswith(f"{name}:") else line
            for line in text.split("\n")).encode())
        for name in ("eip", "title", "status", "type", "created")
    } | {
        "a number in words": _swap("eip: 9001", "eip: first"),
        "a number of a thousand digits": _swap("eip: 9001", "eip: " + "9" * 1000),
        "a negative number": _swap("eip: 9001", "eip: -9001"),
        "the number of another": _swap("eip: 9001", "eip: 9002"),
        "supersedes itself": _swap("status: Final", "status: Final\nreplaces: 9001"),
        "superseded by nobody": _swap("status: Final", "status: Final\nsuperseded-by: 1"),
        "requires nobody": _swap("status: Final", "status: Final\nrequires: 77, 9002"),
        "requires a great number": _swap("status: Final", "status: Final\nrequires: 123456789"),
        "a ring": _swap("status: Final", "status: Final\nreplaces: 9002"),
        "a link of a million": _swap("status: Final", "status: Final\nrequires: " + "7 " * 10**5),
        "an English date": _swap("2020-01-31", "31 January 2020"),
        "no such month": _swap("2020-01-31", "2020-31-01"),
        "no such day": _swap("2020-01-31", "2020-02-30"),
        "two dates": _swap("2020-01-31", "2020-01-31, 2020-02-01"),
        "year nought": _swap("2020-01-31", "0000-01-01"),
        "no header": lambda _: b"## Abstract\n\nText.\n",
        "header without an end": _text(lambda t: t.replace("\n---\n", "\n", 1)),
        "header without a beginning": _text(lambda t: t.removeprefix("---\n")),
        "an empty header": lambda _: b"---\n---\ntext\n",
        "an empty file": lambda _: b"",
        "blanks alone": lambda _: b" \n\n \t\n",
        "a header after the text": _text(lambda t: "Abstract\n\n" + t),
        "a TOML header": lambda _: b"+++\neip = 9001\n+++\ntext\n",
        "HTML": lambda _: b"<!doctype html><title>404</title>",
        "JSON": lambda _: b'{"eip": 9001}',
        "a header of spaces": _text(lambda t: " " * 10**6 + t.removeprefix("---\n")),
        "a number of noughts": _swap("eip: 9001", "eip: 0"),
        "a date of spaces": _swap("2020-01-31", " " * 10**5),
    },
    "jsonl": {
        "cut in the middle": _text(lambda t: t[: len(t) // 2]),
        "a comma too many": _swap('"a",', '"a",,'),
        "single quotes": _text(lambda t: t.replace('"', "'")),
        "one list of all": _text(lambda t: "[" + ",".join(t.splitlines()) + "]"),
        "a list a line": lambda _: b'["a", "b"]\n',
        "a number a line": lambda _: b"1\n2\n",
        "null": lambda _: b"null\n",
        "indented": _text(lambda t: t.replace(", ", ",\n")),
        "an empty file": lambda _: b"",
        "blanks alone": lambda _: b" \n\n \t\n",
        "not a number": lambda _: b'{"id": NaN, "text": "t", "date": NaN}\n',
        "a number of ten thousand digits": lambda _: b'{"id": %s}\n' % (b"9" * 10_000),
        "half a character": lambda _: b'{"id": "\\ud800", "text": "t", "date": "2020"}\n',
        "brackets a hundred thousand deep": lambda _: b"[" * 100_000 + b"\n",
        "objects a hundred thousand deep": lambda _: b'{"a":' * 100_000 + b"\n",
        "no id": _swap('"id": "a"', '"key": "a"'),
        "an empty id": _swap('"id": "a"', '"id": ""'),
        "a list as id": _swap('"id": "a"', '"id": {"a": 1}'),
        "true as id": _swap('"id": "a"', '"id": true'),
        "the id of another": _swap('"id": "a"', '"id": "b"'),
        "no text": _swap('"text": "The first text."', '"body": "x"'),
        "an empty text": _swap("The first text.", ""),
        "a blank text": _swap("The first text.", "   "),
        "a number as text": _swap('"The first text."', "7"),
        "a list as text": _swap('"The first text."', '["x"]'),
        "null as text": _swap('"The first text."', "null"),
        "an object as title": _swap('"First"', '{"a": 1}'),
        "no date": _swap('"date": "20200101"', '"day": "20200101"'),
        "an empty date": _swap("20200101", ""),
        "null as date": _swap('"20200101"', "null"),
        "an object as date": _swap('"20200101"', '{"y": 2020}'),
        "an English date": _swap("20200101", "1 January 2020"),
        "no such month": _swap("20200101", "20201301"),
        "no such day": _swap("2021-032", "2021-366"),
        "seconds since 1970": _swap('"20200101"', "1577836800"),
        "a link to nobody": _swap('"supersedes": "a"', '"supersedes": "z"'),
        "one of two is nobody": _swap('["a", "b"]', '["a", "z"]'),
        "an object as link": _swap('"supersedes": "a"', '"supersedes": {"a": 1}'),
        "true as link": _swap('"supersedes": "a"', '"supersedes": true'),
        "supersedes itself": _swap('"supersedes": "a"', '"supersedes": "b"'),
        "a ring": _swap('"requires": ["c"]', '"superseded_by": ["a"]'),
        "a decision corpus already": lambda _: b'{"record":"corpus","schema":"decision-corpus-1"}',
    },
}  # fmt: skip


def _variants(form: str) -> dict[str, Change]:
    own = dict(HEADER[form]) | BYTES
    return own | YAML_HEADER if form in ("front_matter", "adr") else own


ARCHIVES = ("cut", "empty", "no archive", "a bomb", "a header that bursts", "a claim")


@pytest.mark.parametrize("form", list(FORMS))
def test_there_are_fifty_of_each(form: str) -> None:
    dates = 5 if form in ("front_matter", "adr") else 0
    archives = 0 if form == "jsonl" else len(ARCHIVES)
    assert len(_variants(form)) + archives + dates >= 50


@pytest.mark.parametrize(
    ("form", "name"), [(form, name) for form in FORMS for name in _variants(form)]
)
def test_a_malformed_document_ends_in_one_line(form: str, name: str, tmp_path: Path) -> None:
    path = laid_out(form, tmp_path)
    spoilt = tmp_path / FIRST[form]
    spoilt.write_bytes(_variants(form)[name](FORMS[form][FIRST[form]]))
    _ends_in_one_line(form, path)


@pytest.mark.parametrize("date", ["last May", "2019-02-30", "05/02/2019", "0000", "2019-02-01T25"])
@pytest.mark.parametrize("form", ["front_matter", "adr"])
def test_a_date_that_is_none_ends_in_one_line(form: str, date: str, tmp_path: Path) -> None:
    path = laid_out(form, tmp_path)
    spoilt = tmp_path / FIRST[form]
    text = spoilt.read_text().replace("2019-02-01", date).replace("2024-01-05", date)
    spoilt.write_text(text)
    _ends_in_one_line(form, path)


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "jsonl"])
def test_a_bad_archive_ends_in_one_line(
    form: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_MOST_IN_ALL", 3_000_000)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        if name == "a bomb":
            big = tarfile.TarInfo("padding.bin")
            big.size = 4_000_000
            tar.addfile(big, io.BytesIO(bytes(big.size)))
        if name == "a header that bursts":
            info = tarfile.TarInfo("x.md")
            info.pax_headers = {"comment": "x" * 4_000_000}
            tar.addfile(info)
        if name != "empty":
            tar.add(laid_out(form, tmp_path / "in"), ".")
    data = lzma.compress(packed.getvalue())
    data = {"cut": data[: len(data) // 2], "no archive": b"PK\x03\x04" + bytes(900)}.get(name, data)
    if name == "a claim":  # of 100 GB, of which nothing is stored
        claim = tarfile.TarInfo("././@PaxHeader")
        claim.type, claim.size = tarfile.XHDTYPE, 100 * 2**30
        data = lzma.compress(claim.tobuf(tarfile.GNU_FORMAT) + bytes(2_048))
    (tmp_path / "corpus.tar.xz").write_bytes(data)
    _ends_in_one_line(form, tmp_path / "corpus.tar.xz")


def _ends_in_one_line(form: str, path: Path) -> None:
    with pytest.raises(DataError) as caught:
        converted(form, path)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 5_000


def bomb(size: int) -> bytes:
    """An archive whose one member has a header of so many bytes, packed to a few kilobytes."""
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, size
    start = f"{size} comment=".encode()
    pack = lzma.LZMACompressor(preset=0)
    out = [pack.compress(header.tobuf(tarfile.USTAR_FORMAT)), pack.compress(start)]
    left = size - len(start) - 1
    out += [pack.compress(b"x" * min(2**20, left - at)) for at in range(0, left, 2**20)]
    end = b"\n" + bytes(-size % 512) + tarfile.TarInfo("x.md").tobuf() + bytes(1024)
    return b"".join([*out, pack.compress(end), pack.flush()])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise")
@pytest.mark.parametrize("size", [380_000_000, 600_000_000])
def test_a_header_as_long_as_can_be_stays_below_two_gigabytes(size: int, tmp_path: Path) -> None:
    path = tmp_path / "corpus.tar.xz"
    path.write_bytes(bomb(size))
    assert path.stat().st_size < 1_000_000
    code = """
        import resource, sys
        from pathlib import Path
        from framework.errors import DataError
        from tests.plugins.domains.corpus.published import converted
        try:
            converted("front_matter", Path(sys.argv[1]))
        except DataError as error:
            print(error)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[4],
        timeout=500,
        check=False,
    )
    told, peak = done.stdout.splitlines()
    assert "it unpacks to more than 400 MB" in told or size < 400_000_000
    assert int(peak) < 2**21  # KB
