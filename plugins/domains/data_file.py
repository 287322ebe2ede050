"""The file that a domain is read from, where the user has to get it: its bytes and its records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from framework.errors import DataError, UserError
from framework.text.canonical import digest_bytes

T = TypeVar("T")


def check_sha256(given: str) -> None:
    """Raises ValueError for a setting `sha256` that is neither empty nor a digest."""
    if given and not re.fullmatch(r"(sha256:)?[0-9a-f]{64}", given):
        raise ValueError(f"sha256: {given!r} given, 64 lower-case hex digits expected")


def read_file(path: str, sha256: str, *, domain: str, where: str) -> tuple[bytes, str]:
    """The bytes of the file at `path`, and their digest.

    where : how to get it, for who has not. Raises UserError when no path is given, DataError when
    there is no such file, it can't be read, or `sha256` is given and is not its digest.
    """
    if not path:
        raise UserError(f"domain.path: no file given (domain={domain}); {where}")
    file = Path(path).expanduser()
    if not file.exists():
        raise DataError(path, None, f"no such file; {where}")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(path, None, f"cannot be read: {error.strerror}") from None
    digest = digest_bytes(data)
    if sha256 and sha256.removeprefix("sha256:") != digest[7:]:
        raise DataError(path, None, f"is {digest}, domain.sha256 asks for {sha256}")
    return data, digest


class BadRecordError(Exception):
    """What is wrong with one record."""


def parse_json(path: str, data: bytes) -> Any:
    """What a JSON file holds. Raises DataError."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise DataError(path, error.lineno, f"not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise DataError(path, None, "not JSON: not UTF-8 text") from None
    except RecursionError:
        raise DataError(path, None, "not the published JSON: nested too deeply") from None


def read_questions(
    path: str, records: Sequence[Any], key: str, read: Callable[[Mapping[str, Any]], T]
) -> dict[str, T]:
    """The questions by the id that stands under `key`, in order.

    read : makes one of a record, or raises BadRecordError. Raises DataError naming the question.
    """
    found: dict[str, T] = {}
    for number, record in enumerate(records, start=1):
        named = record.get(key) if isinstance(record, dict) else None
        try:
            if not isinstance(record, dict):
                raise BadRecordError(f"an object expected, {kind_of(record)} found")
            question = read(record)
            if text_in(record, key) in found:
                raise BadRecordError(f"a second question with this {key}")
        except BadRecordError as error:
            where = f"question {number}" + (f" ({key} {named!r})" if named else "")
            raise DataError(path, None, f"{where}: {error}") from None
        found[text_in(record, key)] = question
    return found


def text_in(record: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """A text that is not blank. Raises BadRecordError."""
    value = record.get(key, default)
    if not isinstance(value, str):
        raise BadRecordError(f"{key}: text expected, {kind_of(value)} found")
    if not value.strip():
        raise BadRecordError(f"{key}: text expected, empty")
    return value


def list_in(record: Mapping[str, Any], key: str, of: str = "a list") -> list[Any]:
    """A list. Raises BadRecordError."""
    value = record.get(key)
    if not isinstance(value, list):
        raise BadRecordError(f"{key}: {of} expected, {kind_of(value)} found")
    return value


_KINDS: Final[Mapping[type, str]] = {dict: "JSON object", list: "list", str: "text"}


def kind_of(value: object) -> str:
    """What stands where something else is expected: `a list`, `an empty text`, `3`."""
    if value is None:
        return "nothing"
    if type(value) not in _KINDS:
        return repr(value)
    return f"{'a' if value else 'an empty'} {_KINDS[type(value)]}"
