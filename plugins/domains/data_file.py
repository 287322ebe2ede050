"""The file that a domain is read from, where the user has to get it: its bytes and its records."""

from __future__ import annotations

import ast
import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from framework.contracts import Provenance
from framework.errors import DataError, UserError
from framework.text.canonical import CanonicalError, canonical_json, digest_bytes
from framework.text.reading import no_stream, read_json

T = TypeVar("T")

MOST_READ: Final = 768 * 2**20
"""Bytes of a file that is held whole: of those known the largest has 675 MB."""
_MOST_UNPACKED: Final = 512 * 2**20
_MOST_ROWS: Final = 1_000_000
"""Of a Parquet file: a small one may hold a value a billion times."""


def check_sha256(given: str) -> None:
    """Raises ValueError for a setting `sha256` that is neither empty nor a digest."""
    if given and not re.fullmatch(r"(sha256:)?[0-9a-f]{64}", given):
        raise ValueError(f"sha256: {given!r} given, 64 lower-case hex digits expected")


def read_file(path: str, sha256: str, *, domain: str, where: str) -> tuple[bytes, str]:
    """The bytes of the file at `path` without a byte order mark, and the digest of the file.

    where : how to get it, for who has not. Raises UserError when no path is given, DataError when
    there is no such file, it is too large or can't be read, or `sha256` is given and is not its
    digest.
    """
    file = file_at(path, domain=domain, where=where)
    try:
        if (size := file.stat().st_size) > MOST_READ:
            told = f"{size:,} bytes, at most {MOST_READ:,} are held at once"
            raise DataError(path, None, told)
        data = file.read_bytes()
    except OSError as error:
        raise DataError(path, None, f"cannot be read: {error.strerror}") from None
    return data.removeprefix(codecs.BOM_UTF8), asked_for(path, sha256, digest_bytes(data))


def file_at(path: str, *, domain: str, where: str) -> Path:
    """A setting's file or folder. Raises UserError when none is given, DataError without one."""
    if not path:
        raise UserError(f"domain.path: no file given (domain={domain}); {where}")
    file = Path(path).expanduser()
    if not file.exists():
        raise DataError(path, None, f"no such file; {where}")
    try:
        return no_stream(file)
    except OSError as error:
        raise DataError(path, None, f"{error.strerror}") from None


def asked_for(path: str, sha256: str, digest: str) -> str:
    """The digest; raises DataError where another is asked for."""
    if sha256 and sha256.removeprefix("sha256:") != digest[7:]:
        raise DataError(path, None, f"is {digest}, domain.sha256 asks for {sha256}")
    return digest


class BadRecordError(Exception):
    """What is wrong with one record."""


_NAMED: Final = 10
"""Faults of a file that are told at once."""
_LONGEST: Final = 350
"""Characters of a fault: what stands in the file may be of any length."""
_ENOUGH: Final = 1_000
"""Faults after which no more are looked for: of a large file that is none, every record is one."""


def first_ten(faults: Sequence[str]) -> str:
    """Faults in one line: the first ten, each cut to its beginning, and how many more there are."""
    more = len(faults) - _NAMED
    told = "; ".join(
        fault if len(fault) <= _LONGEST else f"{fault[:_LONGEST]}…" for fault in faults[:_NAMED]
    )
    return told + (f"; and {more} more" if more > 0 else "")


class Faults:
    """What is wrong with the records of a file, gathered so that the first ten are told at once.

    After a thousand, DataError is raised without looking for more.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._found: list[tuple[int | None, str]] = []

    @contextmanager
    def of(self, place: int | str) -> Iterator[None]:
        """Inside, a BadRecordError is gathered as of `place`: a line, or a record in words."""
        try:
            yield
        except BadRecordError as error:
            line = place if isinstance(place, int) else None
            self._found.append((line, f"{error}" if line else f"{place}: {error}"))
            if len(self._found) == _ENOUGH:
                self._raise(", the rest is not read")

    def check(self) -> None:
        """Raise DataError where anything was gathered."""
        if self._found:
            self._raise()

    def _raise(self, end: str = "") -> NoReturn:
        (line, first), *others = self._found
        told = [first, *(f"line {n}: {said}" if n else said for n, said in others)]
        raise DataError(self._path, line, f"{first_ten(told)}{end}") from None


def parse_json(path: str, data: bytes) -> Any:
    """What a JSON file holds. Raises DataError."""
    try:
        return loads(data)
    except json.JSONDecodeError as error:
        first = next((line for line in data.splitlines() if line.strip()), b"")
        if error.msg == "Extra data" and is_json(first, dict):
            problem = "JSON lines, where one JSON value is expected: put the objects in a list"
            raise DataError(path, None, problem) from None
        raise DataError(path, error.lineno, f"not JSON: {error.msg}") from None
    except BadRecordError as error:
        raise DataError(path, None, str(error)) from None


def listed(
    path: str, data: bytes, *, lines: bool = True
) -> tuple[list[Any], Mapping[str, Any] | None]:
    """The records of a JSON file, and what it says of its provenance, None where it does not.

    A file is a list, or an object with `questions` and `provenance`. lines : JSON lines and Parquet
    are read too. Raises DataError.
    """
    if lines and data.startswith(b"PAR1"):
        return _rows(path, data), None
    head = data.lstrip()[:1]
    several = lines and head == b"{" and data.count(b"\n") > data.endswith(b"\n")
    if several and is_json(data.lstrip().partition(b"\n")[0], dict):
        return _lines(path, data), None
    value, stated = parse_json(path, data), None
    if isinstance(value, dict) and "questions" in value:
        said = value.get("provenance", value.get("_provenance"))
        value, stated = value["questions"], said if isinstance(said, Mapping) else None
    elif lines and isinstance(value, dict) and value:
        value = [value]
    if not isinstance(value, list):
        raise DataError(path, None, f"a list of questions expected, {kind_of(value)} found")
    if not value:
        raise DataError(path, None, "no questions")
    return value, stated


def _lines(path: str, data: bytes) -> list[Any]:
    """The values of JSON lines. Raises DataError with the lines that hold none."""
    found, faults = [], Faults(path)
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        with faults.of(number):
            try:
                found.append(loads(line))
            except json.JSONDecodeError as error:
                raise BadRecordError(f"not JSON: {error.msg}") from None
    faults.check()
    return found


def _rows(path: str, data: bytes) -> list[Any]:
    """The rows of a Parquet file. Raises DataError, for one that unpacks to too much too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, size = list[Any](), 0
    try:
        for batch in pq.ParquetFile(pa.BufferReader(data)).iter_batches(batch_size=64):
            size += batch.nbytes
            rows += batch.to_pylist()
            if size > _MOST_UNPACKED or len(rows) > _MOST_ROWS:
                told = f"more than {_MOST_ROWS:,} rows or {_MOST_UNPACKED // 2**20} MB"
                raise DataError(path, None, told)
    except (pa.ArrowException, OSError, ValueError) as error:
        told = str(error).partition("\n")[0][:200]
        raise DataError(path, None, f"not readable as Parquet: {told}") from None
    if not rows:
        raise DataError(path, None, "no questions")
    return rows


def csv_rows(path: str, data: bytes) -> list[dict[str, Any]]:
    """The rows of a CSV file by the names of its first. Raises DataError where there are none."""
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    except UnicodeDecodeError:
        raise DataError(path, None, "not UTF-8 text") from None
    except csv.Error as error:
        raise DataError(path, None, f"not CSV: {error}") from None
    if not rows:
        raise DataError(path, None, "no questions")
    return rows


def provenance_of(
    path: str, digest: str, published: Provenance, stated: object, *, told: bool
) -> Provenance:
    """Where a file's records come from: `published` of one of its files, else what it states.

    stated : what the file says of its provenance. told : whether `domain.unknown_file=true` is set.
    Raises DataError for a file that is none of those published, does not say what it is, and
    nobody told to be read all the same.
    """
    if digest in published.files.values():
        return published
    if not told and not isinstance(stated, Mapping):
        known = ", ".join(published.files) or "none is recorded"
        raise DataError(
            path,
            None,
            f"is {digest}, none of the published files that are known ({known}); "
            "domain.unknown_file=true reads it anyway",
        )
    own = provenance_in(path, stated)
    return replace(own, main_score=published.main_score, schema=published.schema)


def provenance_in(path: str | Path, stated: object) -> Provenance:
    """What a file states of its provenance: texts by `source`, `revision`, `licence`, `citation`.

    What it does not state is not stated, whatever the schema that it follows.
    """
    said = stated if isinstance(stated, Mapping) else {}
    unsaid = {
        "source": f"not stated by the file {Path(path).name}",
        "revision": "not stated; the digest of the file read is recorded",
        "licence": "not stated",
        "citation": "not stated",
    }
    texts = {key: said[key] for key in unsaid if isinstance(said.get(key), str) and said[key]}
    return Provenance(**(unsaid | texts))


def loads(data: bytes) -> Any:
    """What JSON holds. Raises JSONDecodeError, and BadRecordError for what can't be used."""
    try:
        value = read_json(data.decode())
    except json.JSONDecodeError:
        raise
    except UnicodeDecodeError:
        raise BadRecordError("not UTF-8 text") from None
    except ValueError as error:  # nested too deeply, a key twice, a number of thousands of digits
        raise BadRecordError(f"not usable: {str(error).partition(';')[0]}") from None
    if rb"\u" in data:
        check_text(value)
    return value


def check_text(value: object, place: str = "") -> None:
    """Raise BadRecordError naming the place of a text that no file and no terminal can hold."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(value[error.start]):04x}"
            where = place.lstrip(".")[-200:] or "the text"
            raise BadRecordError(f"{where}: half of a character, {half} alone") from None
    elif isinstance(value, dict):
        for key, part in value.items():
            check_text(key, place)
            check_text(part, f"{place}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            check_text(part, f"{place}[{number}]")


def check_writable(value: object, key: str) -> None:
    """Raise BadRecordError for what can't be written again as JSON: a number such as NaN."""
    try:
        canonical_json(value)
    except CanonicalError as error:
        raise BadRecordError(f"{key}: {str(error)[-200:]}") from None


def is_json(data: bytes, kind: type = object) -> bool:
    """Whether it is JSON of a value of this type."""
    try:
        return isinstance(read_json(data), kind)
    except ValueError:
        return False


def read_questions(
    path: str,
    records: Sequence[Any],
    key: str,
    read: Callable[[Mapping[str, Any]], T],
    what: str = "question",
) -> dict[str, T]:
    """What the records hold, by the id that stands under `key`, in order.

    read : makes one of a record, or raises BadRecordError. what : a record in a word. Raises
    DataError naming the records.
    """
    found: dict[str, T] = {}

    def keyed(record: Mapping[str, Any]) -> None:
        one, id_ = read(record), scalar_in(record, key)
        if id_ in found:
            raise BadRecordError(f"a second {what} with this {key}")
        found[id_] = one

    read_each(path, records, keyed, what, key)
    return found


def read_each(
    path: str,
    records: Sequence[Any],
    read: Callable[[Mapping[str, Any]], T],
    what: str = "record",
    key: str = "",
) -> list[T]:
    """What `read` makes of each record, in order; it raises BadRecordError for one that is bad.

    what : a record in a word. key : a field that names it. Raises DataError naming the records.
    """
    found, faults = list[T](), Faults(path)
    for number, record in enumerate(records, start=1):
        named = record.get(key) if isinstance(record, dict) else None
        with faults.of(f"{what} {number}" + (f" ({key} {repr(named)[:80]})" if named else "")):
            if not isinstance(record, dict):
                raise BadRecordError(f"an object expected, {kind_of(record)} found")
            found.append(read(record))
    faults.check()
    return found


def text_in(
    record: Mapping[str, Any], key: str, default: str | None = None, *, form: str = ""
) -> str:
    """A text that is not blank, of this form where one is given. Raises BadRecordError."""
    value = record.get(key, default)
    if not isinstance(value, str):
        raise BadRecordError(f"{key}: text expected, {kind_of(value)} found")
    if not value.strip():
        raise BadRecordError(f"{key}: text expected, empty")
    if form and not re.fullmatch(form, value):
        raise BadRecordError(f"{key}: text of the form {form} expected, {value[:80]!r} found")
    return value


def list_in(record: Mapping[str, Any], key: str, of: str = "a list") -> list[Any]:
    """A list. Raises BadRecordError."""
    value = record.get(key)
    if not isinstance(value, list):
        raise BadRecordError(f"{key}: {of} expected, {kind_of(value)} found")
    return value


def object_in(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object. Raises BadRecordError."""
    value = record.get(key)
    if not isinstance(value, dict):
        raise BadRecordError(f"{key}: an object expected, {kind_of(value)} found")
    return value


def objects_in(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """A list of objects. Raises BadRecordError."""
    found = list_in(record, key, "a list of objects")
    for value in found:
        if not isinstance(value, dict):
            raise BadRecordError(f"{key}: a list of objects expected, {kind_of(value)} in it")
    return found


def nested_in(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects of a list, or of the lists in it, in order. Raises BadRecordError."""
    found = list[Mapping[str, Any]]()
    for value in list_in(record, key, "a list of objects"):
        found += objects_in({key: value if isinstance(value, list) else [value]}, key)
    return found


def literal_in(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object, or one as text in the form of Python. Raises BadRecordError."""
    value = record.get(key)
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise BadRecordError(f"{key}: an object expected, a text that is none found") from None
    return object_in({key: value}, key)


def scalar_in(record: Mapping[str, Any], key: str) -> str:
    """A text that is not blank, or a number as text. Raises BadRecordError."""
    value = record.get(key)
    return str(value) if type(value) in (int, float) else text_in(record, key)


_KINDS: Final[Mapping[type, str]] = {dict: "JSON object", list: "list", str: "text"}


def kind_of(value: object) -> str:
    """What stands where something else is expected: `a list`, `an empty text`, `3`."""
    if value is None:
        return "nothing"
    if type(value) not in _KINDS:
        return repr(value)
    return f"{'a' if value else 'an empty'} {_KINDS[type(value)]}"
