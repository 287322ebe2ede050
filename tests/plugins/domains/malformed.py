"""Files that break a published schema, made from one that keeps it."""

from __future__ import annotations

import codecs
import copy
import csv
import functools
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from framework.contracts import Domain
from framework.errors import DataError, UserError

AT_LEAST: Final = 50
"""Variants that are tried of every format."""

MOST_CHARACTERS: Final = 4_000
"""Of the line: ten faults are told at once."""

MOST_SECONDS: Final = 10.0
"""Of processor time that one variant may take."""

_BYTES: Final[dict[str, bytes]] = {
    "empty": b"",
    "blank": b" \n\n",
    "word": b"nothing",
    "null": b"null",
    "number": b"3",
    "text": b'"text"',
    "object": b"{}",
    "list": b"[]",
    "of-numbers": b"[1, 2]",
    "of-nulls": b"[null]",
    "of-lists": b"[[], []]",
    "of-objects": b"[{}]",
    "not-a-number": b"[NaN]",
    "not-utf-8": b'["\xe9"]',
    "nul": b"[\x00]",
    "half-a-character": rb'[{"id": "\ud83d"}]',
    "mark-alone": b"\xef\xbb\xbf",
    "digits": b'[{"id": ' + b"1" * 5_000 + b"}]",
    "nested": b"[" * 100_000,
    "nested-objects": b'{"a":' * 100_000,
}
_DEEP: Final = functools.reduce(lambda inner, _: [inner], range(400), "deep")
_VALUES: Final[dict[str, Any]] = {
    "null": None,
    "number": 3,
    "true": True,
    "empty": "",
    "text": "none such",
    "list": [],
    "of-numbers": [1, 2],
    "object": {},
    "not-a-number": float("nan"),
    "infinite": float("inf"),
    "huge": 10**400,
    "long": "x" * 100_000,
    "deep": _DEEP,
}

_GONE: Final = object()


def variants(file: Path) -> Iterator[tuple[str, bytes]]:
    """By name, what such a file may turn into: broken bytes, and a wrong or missing value."""
    data = file.read_bytes()
    yield from broken(data)
    records = json.loads(data)
    if isinstance(records, list):
        yield "lines", "\n".join(map(json.dumps, records)).encode()
        yield "repeated", json.dumps([*records, records[0]]).encode()
    for place in _places(records):
        where = ".".join(map(str, place))
        for name, value in _VALUES.items():
            yield f"{where}={name}", _changed(records, place, value)
        yield f"{where}-gone", _changed(records, place, _GONE)


def broken(data: bytes) -> Iterator[tuple[str, bytes]]:
    """By name, bytes that are of no schema, and halves and doubles of those of a file."""
    yield from _BYTES.items()
    yield "half", data[: len(data) // 2]
    yield "twice", data + data
    yield "marked", codecs.BOM_UTF8 + data
    yield "utf-16", data.decode(errors="replace").encode("utf-16")
    yield "other-ends", data.replace(b"\n", b"\r")


def spoilt_lines(file: Path) -> Iterator[tuple[str, bytes]]:
    """By name, what JSON lines may turn into: broken bytes, and a wrong or missing value.

    The first record of each kind (`record`) is spoilt.
    """
    data = file.read_bytes()
    yield from broken(data)
    lines = data.splitlines()
    seen = set()
    for number, line in enumerate(lines):
        record = json.loads(line)
        if record.get("record") in seen:
            continue
        seen.add(record.get("record"))

        def beside(*own: bytes, number: int = number) -> bytes:
            return b"\n".join([*lines[:number], *own, *lines[number + 1 :]])

        yield f"{number} gone", beside()
        yield f"{number} twice", beside(line, line)
        for place in _places(record):
            where = ".".join(map(str, (number, *place)))
            for name, value in _VALUES.items():
                yield f"{where}={name}", beside(_changed(record, place, value))
            yield f"{where}-gone", beside(_changed(record, place, _GONE))


def spoilt_rows(file: Path) -> Iterator[tuple[str, bytes]]:
    """By name, what a CSV file may turn into: broken bytes, a missing column, a wrong cell."""
    data = file.read_bytes()
    yield from broken(data)
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for column in rows[0]:
        yield (
            f"{column}-gone",
            _written([{k: v for k, v in r.items() if k != column} for r in rows]),
        )
        for name, value in {
            "empty": "",
            "text": "none such",
            "quote": '"',
            "long": "9" * 200_000,
        }.items():
            yield f"{column}={name}", _written([rows[0] | {column: value}, *rows[1:]])
    yield "a longer row", data + b"1,2,3" * 40 + b"\n"
    yield "a shorter row", data + b"1\n"
    yield "a nul", data + b"\0,\0\n"


def _written(rows: list[dict[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of the first of every kind of value."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*place, key)
            yield from _places(part, (*place, key))
    elif isinstance(value, list) and value:
        yield (*place, 0)
        yield from _places(value[0], (*place, 0))


def _changed(records: Any, place: tuple[Any, ...], value: Any) -> bytes:
    whole = at = copy.deepcopy(records)
    for key in place[:-1]:
        at = at[key]
    if value is _GONE:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return json.dumps(whole).encode()


def check_malformed(
    file: Path, folder: Path, read: Callable[[Path], Domain[Any]]
) -> dict[str, str]:
    """Every variant is read or ends in one line; the lines by variant.

    read : opens the domain on a file. Its cases and their histories are read too.
    """
    path = folder / f"malformed{file.suffix}"

    def opened(data: bytes) -> Domain[Any]:
        path.write_bytes(data)
        return read(path)

    return check_variants(variants(file), opened)


def check_variants(
    found: Iterable[tuple[str, bytes]], read: Callable[[bytes], Domain[Any]]
) -> dict[str, str]:
    """Every variant is read, its cases and their histories too, or ends in one line.

    In little time; the lines by variant.
    """

    def use(data: bytes) -> None:
        domain = read(data)
        for case in domain.cases(None, 0):
            list(domain.history(case.history_id))

    return check_uses(found, use)


def check_uses(
    found: Iterable[tuple[str, bytes]], use: Callable[[bytes], object]
) -> dict[str, str]:
    """Every variant is taken or ends in one short line, in little time; the lines by variant."""
    told: dict[str, str] = {}
    tried = 0
    for name, data in found:
        tried += 1
        begun = time.process_time()
        try:
            use(data)
        except UserError as error:
            told[name] = str(error)
            assert "\n" not in told[name], f"{name}: {told[name]}"
            assert len(told[name]) < MOST_CHARACTERS, f"{name}: {told[name][:MOST_CHARACTERS]}"
        assert time.process_time() - begun < MOST_SECONDS, name
    assert tried >= AT_LEAST, f"only {tried} variants"
    return told


def check_told(read: Callable[[], object], told: str) -> None:
    """That reading ends in one short line that says so (a pattern)."""
    begun = time.process_time()
    with pytest.raises(DataError, match=told) as caught:
        read()
    assert time.process_time() - begun < MOST_SECONDS
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_000
