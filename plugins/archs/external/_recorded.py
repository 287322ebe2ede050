"""A history's exchanges with a system in a file: enough to repeat a run without the system."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import json
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from framework.errors import DataError
from framework.text.canonical import canonical_bytes

_FORMAT: Final = 1
_GZIP: Final = 31
"""What tells zlib that a member has the header and the checksum of gzip."""


class Recorded:
    """What was answered to each operation, by the operation's key.

    The file is JSON lines in gzip members, each with its checksum: first what was asked, then one
    line an answer. A member is added whole; one that a kill cut off is no answer, and is removed
    before the next is added. Of two answers under a key the first stands, so that processes which
    write at once all go on with the same. A text that comes again is stored as a number.

    path : of the file. about : its first line, for people. texts : those numbered first, which are
    not in the file.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], texts: Sequence[str]) -> None:
        self.path, self._about = path, about
        self._texts, self._numbers = list[str](), dict[str, int]()
        for text in texts:
            self._number(text)
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._read = 0
        self._waiting: list[tuple[str, Mapping[str, Any]]] = []
        self._lock = threading.RLock()
        self._file: BinaryIO | None = None
        self._holders = 0
        self._look()

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The answer under a key, with what other processes have added meanwhile."""
        with self._lock:
            if (waiting := self._waits(key)) is not None:
                return waiting
            if key not in self._answers:
                self._look()
            return self._answers.get(key)

    def put(self, key: str, answer: Mapping[str, Any], *, at_once: bool) -> Mapping[str, Any]:
        """Keep an answer, or find that one is known; the one that stands.

        at_once : whether it has to be in the file now, or may be written with the next.
        """
        with self._lock:
            self._waiting.append((key, answer))
            if at_once:
                self.flush()
            return self.get(key) or answer

    def flush(self) -> None:
        """Write what waits."""
        with self._lock:
            if not self._waiting:
                return
            with self.turn() as file:
                self._look()
                file.truncate(self._read)  # what a kill left of a member
                lines = [] if self._read else [{"format": _FORMAT, **self._about}]
                for key, answer in self._waiting:
                    if key not in self._answers:
                        self._answers[key] = answer
                        lines.append({"key": key, **self._packed(answer)})
                if lines:
                    text = b"".join(canonical_bytes(line) + b"\n" for line in lines)
                    file.write(gzip.compress(text, 9, mtime=0))
                    file.flush()
                    self._read = file.tell()
                self._waiting.clear()

    @contextlib.contextmanager
    def turn(self) -> Iterator[BinaryIO]:
        """Hold the file: another process that comes to the same place waits, and then reads."""
        with self._lock:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("ab+")
                fcntl.flock(self._file, fcntl.LOCK_EX)
            self._holders += 1
            file = self._file
        try:
            yield file
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders:
                    self._file = None
                    file.close()

    def _waits(self, key: str) -> Mapping[str, Any] | None:
        return next((answer for known, answer in self._waiting if known == key), None)

    def _look(self) -> None:
        """Take in the members that were added since. Raises DataError for a damaged one."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            return
        while data:
            member = zlib.decompressobj(_GZIP)
            try:
                text = member.decompress(data)
            except zlib.error as error:
                raise DataError(self.path, None, f"damaged: {error}") from None
            if not member.eof:  # cut off
                return
            for line in text.splitlines():
                self._take(json.loads(line))
            self._read += len(data) - len(member.unused_data)
            data = member.unused_data

    def _take(self, line: dict[str, Any]) -> None:
        if "format" in line:
            if line["format"] != _FORMAT:
                raise DataError(self.path, 1, f"format {line['format']}, {_FORMAT} expected")
            return
        for text in line.get("texts", ()):
            self._number(text)
        answer = {name: value for name, value in line.items() if name not in ("key", "texts")}
        if "found" in answer:
            answer["found"] = [[self._texts[number], *rest] for number, *rest in answer["found"]]
        self._answers.setdefault(line["key"], answer)

    def _packed(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        if "found" not in answer:
            return dict(answer)
        known = len(self._texts)
        found = [[self._number(text), *rest] for text, *rest in answer["found"]]
        new = self._texts[known:]
        return {**answer, "found": found, **({"texts": new} if new else {})}

    def _number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return self._numbers[text]
