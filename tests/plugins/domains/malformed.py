"""Files that break a published schema, made from one that keeps it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from framework.contracts import Domain
from framework.errors import DataError, UserError

AT_LEAST: Final = 50
"""Variants that are tried of every format."""

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
_VALUES: Final[dict[str, Any]] = {
    "null": None,
    "number": 3,
    "true": True,
    "empty": "",
    "text": "none such",
    "list": [],
    "of-numbers": [1, 2],
    "object": {},
}

_GONE: Final = object()


def variants(file: Path) -> Iterator[tuple[str, bytes]]:
    """By name, what such a file may turn into: broken bytes, and a wrong or missing value."""
    data = file.read_bytes()
    yield from _BYTES.items()
    yield "half", data[: len(data) // 2]
    yield "twice", data + data
    records = json.loads(data)
    if isinstance(records, list):
        yield "lines", "\n".join(map(json.dumps, records)).encode()
        yield "repeated", json.dumps([*records, records[0]]).encode()
    for place in _places(records):
        where = ".".join(map(str, place))
        for name, value in _VALUES.items():
            yield f"{where}={name}", _changed(records, place, value)
        yield f"{where}-gone", _changed(records, place, _GONE)


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
    told: dict[str, str] = {}
    tried = 0
    for name, data in variants(file):
        tried += 1
        path = folder / "malformed.json"
        path.write_bytes(data)
        try:
            domain = read(path)
            for case in domain.cases(None, 0):
                list(domain.history(case.history_id))
        except UserError as error:
            told[name] = str(error)
            assert "\n" not in told[name], f"{name}: {told[name]}"
    assert tried >= AT_LEAST, f"only {tried} variants"
    return told


def check_told(read: Callable[[], object], told: str) -> None:
    """That reading ends in one short line that says so (a pattern)."""
    with pytest.raises(DataError, match=told) as caught:
        read()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_000
