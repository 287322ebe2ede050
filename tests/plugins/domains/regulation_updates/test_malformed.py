"""Bad archives and bad RegML, bombs among them: each in one line, in little time and memory."""

from __future__ import annotations

import io
import lzma
import re
import struct
import subprocess
import sys
import tarfile
import textwrap
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.errors import DataError
from plugins.domains.regulation_updates.archive import LARGEST
from tests.plugins.domains.malformed import check_told
from tests.plugins.domains.regulation_updates.test_regulation_updates import FIXTURE, opened

ROOT = Path(__file__).parents[4]
FILES = {path.name: path.read_bytes() for path in sorted((FIXTURE / "regulation").iterdir())}
LAST = "2015-9_20190101.xml"
GOOD = FILES[LAST]
DECLARED = b"<?xml version='1.0' encoding='UTF-8'?>"


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(f"regulation/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def last(data: bytes) -> Callable[[], bytes]:
    return lambda: packed(FILES | {LAST: data})


def edited(old: bytes, new: bytes) -> Callable[[], bytes]:
    assert old in GOOD
    return last(GOOD.replace(old, new))


def doctype(declared: bytes, used: bytes = b"") -> Callable[[], bytes]:
    whole = GOOD.replace(DECLARED, DECLARED + b"<!DOCTYPE regulation [" + declared + b"]>")
    return last(whole.replace(b"FERRY", used or b"FERRY"))


def laughs() -> Callable[[], bytes]:
    levels = [b"<!ENTITY l0 'ha'>"]
    levels += [b"<!ENTITY l%d '%s'>" % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 12)]
    return doctype(b"".join(levels), b"&l11;")


def xz_of(size: int) -> bytes:
    """Zeros packed by xz: a few kilobytes that unpack to so many bytes."""
    pack, out = lzma.LZMACompressor(), []
    for _ in range(size // 2**20):
        out.append(pack.compress(bytes(2**20)))
    return b"".join([*out, pack.flush()])


def hungry() -> bytes:
    """An archive whose header asks for a dictionary of 1.5 GB."""
    data = bytearray(packed(FILES))
    size = (data[12] + 1) * 4
    header = data[12 : 12 + size]
    place = header.index(0x21, 2)  # the filter LZMA2, the size of its properties, the dictionary
    header[place + 2] = 37
    header[-4:] = struct.pack("<I", zlib.crc32(bytes(header[:-4])))
    data[12 : 12 + size] = header
    return bytes(data)


def sparse() -> bytes:
    """A member that says of itself that it is 100 GB."""
    info = tarfile.TarInfo("regulation/huge.xml")
    info.size = 100 * 2**30
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)


def gnu_sparse() -> bytes:
    """A sparse member of 100 GB of which nothing is stored."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("GNUSparseFile.0/huge.xml")
        info.pax_headers = {
            "GNU.sparse.major": "0",
            "GNU.sparse.minor": "1",
            "GNU.sparse.name": "huge.xml",
            "GNU.sparse.size": str(100 * 2**30),
            "GNU.sparse.map": f"{100 * 2**30},0",
        }
        archive.addfile(info)
    return out.getvalue()


def twice() -> bytes:
    return packed(FILES | {"again.xml": GOOD})


def cut(share: float) -> Callable[[], bytes]:
    def make() -> bytes:
        whole = packed(FILES)
        return whole[: int(len(whole) * share)]

    return make


def raw(data: bytes) -> Callable[[], bytes]:
    return lambda: data


MALFORMED: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (raw(b""), "not an archive"),
    "text": (raw(b"12 CFR 1002"), "not an archive"),
    "zeros": (raw(bytes(10_240)), "0 versions of a regulation"),
    "random bytes": (raw(bytes(range(256)) * 50), "not an archive"),
    "a zip": (raw(b"PK\x03\x04" + bytes(600)), "not an archive"),
    "a gzip": (raw(b"\x1f\x8b\x08" + bytes(600)), "not an archive"),
    "xz of nothing": (raw(lzma.compress(b"")), "not an archive"),
    "xz of text": (raw(lzma.compress(b"text" * 900)), "not an archive"),
    "xz cut in the middle": (cut(0.5), "the end is missing|not an archive"),
    "xz cut at the end": (cut(0.99), "the end is missing"),
    "xz of a header alone": (raw(b"\xfd7zXZ\x00"), "the end is missing"),
    "xz with a broken block": (lambda: packed(FILES)[:40] + bytes(900), "not an archive"),
    "xz bomb": (lambda: xz_of(LARGEST + 2**20), "more than 64 MB when unpacked"),
    "xz that asks for memory": (hungry, "Memory usage limit"),
    "member larger than all": (sparse, "larger than the archive|not an archive"),
    "sparse member": (gnu_sparse, "larger than the archive"),
    "no xml": (lambda: packed({"readme.txt": b"x"}), "0 versions of a regulation"),
    "two versions": (lambda: packed(dict(list(FILES.items())[:2])), "2 versions .* at least 3"),
    "no version differs": (
        lambda: packed(
            {
                f"{n}.xml": GOOD.replace(b"<effectiveDate>2019", b"<effectiveDate>20%02d" % n)
                for n in range(20, 24)
            }
        ),
        "no two versions differ",
    ),
    "a day twice": (twice, "a second version in force from 2019-01-01"),
    "a billion laughs": (laughs(), "a document type is declared"),
    "quadratic": (doctype(b"<!ENTITY a '%s'>" % (b"a" * 50_000), b"&a;" * 50_000), "document type"),
    "external entity": (doctype(b"<!ENTITY a SYSTEM 'file:///etc/passwd'>", b"&a;"), "document t"),
    "external subset": (
        last(GOOD.replace(DECLARED, DECLARED + b"<!DOCTYPE r SYSTEM 'http://localhost/r.dtd'>")),
        "document type",
    ),
    "parameter entity": (doctype(b"<!ENTITY % a 'b'> %a;"), "document type"),
    "an empty document type": (doctype(b""), "document type"),
    "an unknown entity": (edited(b"FERRY", b"&ferry;"), "not XML: undefined entity"),
    "deep": (last(b"<a>" * 100_000), "more than 60 elements within each other"),
    "deep and closed": (last(b"<a>" * 5_000 + b"</a>" * 5_000), "more than 60 elements"),
    "an empty file": (last(b""), "not XML: no element found"),
    "not xml": (last(b"regulation"), "not XML: syntax error"),
    "cut xml": (last(GOOD[: len(GOOD) // 2]), "not XML"),
    "two roots": (last(GOOD + b"<again/>"), "not XML: junk after"),
    "a tag not closed": (edited(b"</preamble>", b""), "not XML: mismatched tag"),
    "an attribute twice": (edited(b'label="2099-4"', b'label="1" label="2"'), "not XML: duplicate"),
    "a null character": (edited(b"FERRY", b"\0"), "not XML"),
    "half of a character": (edited(b"FERRY", b"&#xD800;"), "not XML: reference to invalid"),
    "not utf-8": (edited(b"FERRY", b"\xff\xfe"), "not XML: not well-formed"),
    "an unknown encoding": (edited(b"UTF-8", b"UTF-99"), "not XML: unknown encoding"),
    "an encoding of three bytes": (edited(b"UTF-8", b"shift_jis"), "not XML"),
    "another root": (last(b"<html/>"), "a regulation or notice of RegML expected, 'html' found"),
    "no namespace": (edited(b' xmlns="eregs"', b""), "RegML expected, 'regulation' found"),
    "another namespace": (edited(b'"eregs"', b'"other"'), "RegML expected"),
    "no preamble": (edited(b"preamble>", b"before>"), "preamble: no effectiveDate"),
    "no day": (edited(b"2019-01-01", b""), "preamble: no effectiveDate"),
    "a day in words": (edited(b"2019-01-01", b"New Year"), "effectiveDate: 'New Year' is no day"),
    "no such day": (edited(b"2019-01-01", b"2019-02-30"), "'2019-02-30' is no day"),
    "a year of five digits": (edited(b"2019-01-01", b"12019-01-01"), "is no day"),
    "no document number": (edited(b"documentNumber>", b"number>"), "preamble: no documentNumber"),
    "a label in words": (edited(b'label="2099-4"', b'label="four"'), "label: 'four' is no label"),
    "an empty label": (edited(b'label="2099-4"', b'label=""'), "label: '' is no label"),
    "a long label": (edited(b'label="2099-4"', b'label="1%s"' % (b"-1" * 900)), "is no label"),
    "a label over lines": (edited(b'label="2099-4"', b'label="1&#10;2"'), "is no label"),
    "a label twice": (edited(b'label="2099-4-b"', b'label="2099-4-a"'), "2099-4-a stands twice"),
    "no labels": (last(re.sub(rb' label="[^"]*"', b"", GOOD)), "no labelled text"),
    "a notice of no day": (last(b'<notice xmlns="eregs"/>'), "preamble: no effectiveDate"),
    "a notice of a bad label": (
        last(
            b'<notice xmlns="eregs"><preamble><effectiveDate>2019-01-01</effectiveDate></preamble>'
            b'<change operation="added" label="?"/></notice>'
        ),
        r"label: '\?' is no label",
    ),
    "no words": (last(re.sub(rb">[^<]*<", b"><", GOOD)), "preamble: no effectiveDate"),
}


def test_there_are_fifty_malformed_variants() -> None:
    assert len(MALFORMED) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    make, told = MALFORMED[name]
    path = tmp_path / "bad.tar.xz"
    path.write_bytes(make())
    check_told(lambda: opened(path), told)


def test_bad_files_of_a_folder_are_told_with_their_names(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_bytes(b"<html/>")
    with pytest.raises(DataError, match=r"a\.xml: a regulation or .*; b\.xml: a regulation"):
        opened(tmp_path)
    with (tmp_path / "c.xml").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(DataError, match="more than 64 MB of XML files"):
        opened(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory")
def test_no_variant_takes_two_gigabytes(tmp_path: Path) -> None:
    """All of them in a process that may take 2 GB and no more."""
    for place, (make, _) in enumerate(MALFORMED.values()):
        (tmp_path / f"{place}.tar.xz").write_bytes(make())
    code = textwrap.dedent(
        """
        import resource, sys
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
        from pathlib import Path
        from framework.errors import DataError
        from plugins.domains.regulation_updates.domain import (
            RegulationUpdates, RegulationUpdatesSettings,
        )
        for path in sorted(Path(sys.argv[1]).iterdir()):
            try:
                RegulationUpdates(RegulationUpdatesSettings(path=str(path), unknown_file=True))
            except DataError:
                print("told")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.count("told") == len(MALFORMED)
