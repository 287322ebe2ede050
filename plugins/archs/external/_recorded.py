"""A history's exchanges with a system in a file: enough to repeat a run without the system."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import io
import math
import os
import threading
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError
from framework.text.canonical import canonical_bytes
from framework.text.reading import read_json

_FORMAT: Final = 1
_MOST_UNPACKED: Final = 512 * 2**20
"""Bytes of what was written at once: a small file may hold terabytes of one byte."""
_GZIP: Final = 31
"""What tells zlib that a member has the header and the checksum of gzip."""
_PATIENCE: Final = 0.5
"""Seconds that a closed one still waits for the file: longer than a write, not than an ingest."""


class Recorded:
    """What was answered to each operation, by the operation's key.

    The file is JSON lines in gzip members, each with its checksum: first what was asked, then one
    line an answer. A member is added whole; one that a kill cut off is no answer, and is removed
    before the next is added. Of two answers under a key the first stands, so that processes which
    write at once all go on with the same. A text that comes again is stored as a number.

    path : of the file. about : its first line, of the file once there is one. texts : those
    numbered first, which are not in the file.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], texts: Sequence[str]) -> None:
        self.path, self.about = path, about
        self._texts, self._numbers = list[str](), dict[str, int]()
        for text in dict.fromkeys(texts):
            self._numbers[text] = len(self._texts)
            self._texts.append(text)
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._read = 0
        self._waiting: list[tuple[str, Mapping[str, Any]]] = []
        self._lock = threading.Lock()
        self._turns = threading.Lock()  # for as long as another process has the file
        self._file: io.FileIO | None = None
        self._holders = 0
        self._until = math.inf
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
        """Write what waits; where that fails, or the file can't be had any more, it waits on."""
        with self._lock:
            if not self._waiting:
                return
        with self.turn() as file:
            if file is None:
                return
            with self._lock:
                self._look()
                file.truncate(self._read)  # what a kill, or a full disk, left of a member
                _write(file, self._member())
                self._look()  # numbers are those of the file, whatever was meant to be in it
                self._waiting.clear()

    def close(self) -> None:
        """Write what waits, unless another process keeps the file; nothing waits for it now."""
        self._until = time.monotonic() + _PATIENCE
        self.flush()

    @contextlib.contextmanager
    def turn(self) -> Iterator[io.FileIO | None]:
        """Hold the file: another process that comes to the same place waits, and then reads.

        None where this was closed before the other process was done.
        """
        with self._turns:
            if self._file is None:
                self._file = self._opened()
            if (file := self._file) is not None:
                self._holders += 1
        try:
            yield file
        finally:
            if file is not None:
                with self._turns:
                    self._holders -= 1
                    if not self._holders:
                        self._file = None
                        if not os.fstat(file.fileno()).st_size:
                            self.path.unlink(missing_ok=True)
                        file.close()

    def _opened(self) -> io.FileIO | None:
        """The file, locked."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = self.path.open("ab+", buffering=0)
            try:
                locked = self._locked(file)
                # Who had it before may have removed it, empty as it was.
                if locked and self._is(file):
                    return file
            except BaseException:
                file.close()
                raise
            file.close()
            if not locked:
                return None

    def _locked(self, file: io.FileIO) -> bool:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > self._until:
                    return False
                time.sleep(0.02)
            else:
                return True

    def _is(self, file: io.FileIO) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False

    def _member(self) -> bytes:
        """What waits and is not known yet, as a member; nothing where all is known."""
        lines = [] if self._read else [{"format": _FORMAT, **self.about}]
        keys, numbers = set[str](), dict[str, int]()
        for key, answer in self._waiting:
            if key not in self._answers and key not in keys:
                keys.add(key)
                lines.append({"key": key, **self._packed(answer, numbers)})
        text = b"".join(canonical_bytes(line) + b"\n" for line in lines)
        return gzip.compress(text, 9, mtime=0) if lines else b""

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
                text = member.decompress(data, _MOST_UNPACKED)
            except zlib.error as error:
                raise DataError(self.path, None, f"damaged: {error}") from None
            if member.unconsumed_tail:
                raise DataError(self.path, None, f"damaged: over {_MOST_UNPACKED:,} bytes at once")
            if not member.eof:  # cut off
                return
            try:
                for line in text.splitlines():
                    self._take(read_json(line))
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                raise DataError(self.path, None, f"damaged: {error}") from None
            self._read += len(data) - len(member.unused_data)
            data = member.unused_data

    def _take(self, line: dict[str, Any]) -> None:
        if "format" in line:
            if line["format"] != _FORMAT:
                raise DataError(self.path, 1, f"format {line['format']}, {_FORMAT} expected")
            self.about = {name: value for name, value in line.items() if name != "format"}
            return
        for text in line.get("texts", ()):
            self._numbers.setdefault(text, len(self._texts))
            self._texts.append(text)
        answer = {name: value for name, value in line.items() if name not in ("key", "texts")}
        if "found" in answer:
            answer["found"] = [[self._texts[number], *rest] for number, *rest in answer["found"]]
        self._answers.setdefault(line["key"], answer)

    def _packed(self, answer: Mapping[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
        """An answer as it is in the file. numbers : of this member's texts so far; added to."""
        if "found" not in answer:
            return dict(answer)
        new, found = list[str](), list[list[Any]]()
        for text, *rest in answer["found"]:
            number = self._numbers.get(text, numbers.get(text))
            if number is None:
                number = numbers[text] = len(self._texts) + len(numbers)
                new.append(text)
            found.append([number, *rest])
        return {**answer, "found": found, **({"texts": new} if new else {})}


def _write(file: io.FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
