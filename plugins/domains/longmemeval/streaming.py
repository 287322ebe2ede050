"""Questions of a file too large to hold: checked once, then each read again where it stands."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError
from framework.text.reading import once, read_json
from plugins.domains.data_file import BadRecordError, Faults, check_text
from plugins.domains.longmemeval.loading import question_in
from plugins.domains.longmemeval.records import Question

FROM_BYTES: Final = 32 << 20
"""A file of this size is streamed; a smaller one is held whole."""
_BLOCK: Final = 4 << 20
_LARGEST: Final = 16 << 20
"""Characters of one record at most: what is longer is no question, and would be held whole."""
_KEPT: Final = 4
_NEAR_THE_END: Final = 16
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_BLANK_OR_MARK: Final = re.compile(r"[ \t\r\n\ufeff]*")


def is_streamed(path: Path) -> bool:
    """Whether the file is large, and a bare list as published."""
    with path.open("rb") as file:
        head = file.read(64).removeprefix(codecs.BOM_UTF8).lstrip()
    return path.stat().st_size >= FROM_BYTES and head[:1] == b"["


class StreamedQuestions(Mapping[str, Question]):
    """The questions of a JSON list by their ids, in the file's order; a few are held at a time.

    Raises DataError naming file and record, for the first ten that are bad.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._places: dict[str, tuple[int, int]] = {}
        faults = Faults(path)
        for number, (start, end, record) in enumerate(records(path), start=1):
            with faults.of(f"question {number}"):
                question = question_in(record)
                if question.id in self._places:
                    raise BadRecordError(f"a second question with the id {question.id!r}")
                self._places[question.id] = (start, end)
        faults.check()
        if not self._places:
            raise DataError(path, None, "no questions")
        self._read = lru_cache(maxsize=_KEPT)(self._read_again)

    def __getitem__(self, id_: str) -> Question:
        if id_ not in self._places:
            raise KeyError(id_)
        return self._read(id_)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _read_again(self, id_: str) -> Question:
        start, end = self._places[id_]
        try:
            with self._path.open("rb") as file:
                file.seek(start)
                question = question_in(read_json(file.read(end - start)))
        except (OSError, ValueError, BadRecordError):
            question = None
        if question is None or question.id != id_:
            said = f"question {id_!r} no longer stands where it stood: the file has changed"
            raise DataError(self._path, None, said)
        return question


def records(path: str) -> Iterator[tuple[int, int, Any]]:
    """The values of a JSON list, each with the bytes that it stands at, held one at a time.

    Raises DataError.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    parse = json.JSONDecoder(object_pairs_hook=once).raw_decode
    text, at, start, number, ended, wanted = "", 0, 0, 0, False, "["
    with Path(path).open("rb") as file:

        def more(before: str) -> str:
            nonlocal ended
            # What does not end within a block is begun again with each read: one more has it all.
            whole = _LARGEST - len(before) if len(before) >= _BLOCK else 0
            block = file.read(max(_BLOCK, whole))
            ended = not block
            try:
                return before + decode(block, final=ended)
            except UnicodeDecodeError:
                raise DataError(path, None, f"not UTF-8 text{_after(number)}") from None

        while True:
            found = (_BLANK_OR_MARK if wanted == "[" else _BLANK).match(text, at)
            end = at if found is None else found.end()
            at, start = end, start + len(text[at:end].encode())
            if text[at : at + 1] == "]" and wanted != "[":
                rest = text[at + 1 :]
                while not ended and not rest.strip():
                    rest = more("")
                if rest.strip():
                    raise DataError(path, None, "not JSON: something stands after the list")
                return
            if at < len(text) and wanted in ("[", ","):
                if text[at] != wanted:
                    raise DataError(path, None, f"not JSON: {wanted!r} expected{_after(number)}")
                at, start, wanted = at + 1, start + 1, ""
                continue
            try:
                value, end = parse(text, at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos > len(text) - _NEAR_THE_END
                if ended or not cut:
                    said = f"not JSON: {error.msg}{_after(number)}"
                    raise DataError(path, None, said) from None
            except (RecursionError, ValueError) as error:
                why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
                said = f"not usable: {why.partition(';')[0]}{_after(number)}"
                raise DataError(path, None, said) from None
            else:
                data = text[at:end].encode()
                number += 1
                _check(path, number, value, data)
                yield start, start + len(data), value
                at, start, wanted = end, start + len(data), ","
                continue
            if len(text) - at >= _LARGEST:
                raise DataError(path, None, f"more than {_LARGEST:,} characters{_after(number)}")
            text, at = more(text[at:]), 0


def _check(path: str, number: int, value: object, data: bytes) -> None:
    if rb"\u" in data:
        try:
            check_text(value)
        except BadRecordError as error:
            raise DataError(path, None, f"question {number}: {error}") from None


def _after(number: int) -> str:
    return f" after question {number}" if number else ""
