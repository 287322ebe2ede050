"""Closed segments: what stood in a growing file of a run, compressed, while the file begins anew.

    segments/journal-000001.jsonl.gz   segments/answers-000001.jsonl.gz   segments/rows-000001...
    journal.jsonl                      answers.jsonl

An open journal that has segments begins with `journal.continued`, which holds the number of the
last one, the digests of its files, and how many bytes the files of all closed segments have
together. The chain of hashes runs through all of them. `rows` are those that the events of the
segment tell, for who looks at a run that goes on, and for `resume`, which needs their keys alone.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from framework.errors import DataError
from framework.store.atomic import replacing, sync_directory
from framework.text.canonical import digest_entry
from framework.text.reading import read_json

CONTINUED: Final = "journal.continued"
"""Type of the event that an open journal begins with after segments; see `closing`."""
SEGMENTS: Final = "segments"
"""The folder of a run's closed segments."""
ROWS: Final = "rows.parquet"
"""The rows of a finished run, and, as the name of a segment, those of its events."""
STATE: Final = "state.jsonl"
"""Segments of rows as JSON, which earlier versions closed; they are kept, and read no more."""
SEGMENT_BYTES: Final = 1 << 25
"""A run closes a segment when its answers have grown to so many bytes, or its journal has."""
_MOST_BYTES: Final = 1 << 29
"""A segment that unpacks to more than so many bytes is none of ours."""
_FIRST: Final = re.compile(
    rb'\{"actor":"journal","hash":"[^"]*",'
    rb'"payload":\{(?:"bytes":\d{1,18},)?"files":\{[^{}]*\},"segment":(\d{1,6})\},'
    rb'"prev_hash":"(sha256:[0-9a-f]{64})","seq":(\d{1,15}),'
)
_TYPE: Final = b'"type":"journal.continued"}'
_NUMBER: Final = re.compile(r"^[a-z]+-(\d{6})\.")


def segment(path: Path, number: int) -> Path:
    """The closed segment of this number, from 1, of a growing file."""
    packed = "" if path.name == ROWS else ".gz"
    return path.parent / SEGMENTS / f"{path.stem}-{number:06}{path.suffix}{packed}"


def name_of(path: Path) -> str:
    """The name of a segment within its run directory."""
    return f"{SEGMENTS}/{path.name}"


def close_segment(path: Path, number: int) -> dict[str, str]:
    """Compress a file into its segment of this number, on the disk when this returns.

    Gives the segment's name within the run directory with its digest. Raises OSError.
    """
    target = segment(path, number)
    target.parent.mkdir(exist_ok=True)
    with (
        replacing(target) as draft,
        draft.open("wb") as file,
        # Without name and time, the same content gives the same bytes.
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed,
        path.open("rb") as content,
    ):
        shutil.copyfileobj(content, packed, 1 << 20)
    return settled(target)


def settled(target: Path) -> dict[str, str]:
    """Have a segment that was written on the disk; its name with its digest. Raises OSError."""
    with target.open("rb") as file:
        os.fsync(file.fileno())
    sync_directory(target.parent)
    return {name_of(target): digest_entry(target)}


def follows(line: bytes) -> tuple[int, int, str] | None:
    """What an open journal follows, by its first line: last segment, own number, hash before it.

    None for a journal that begins with its run.
    """
    found = _FIRST.match(line)
    if found is None or not line.rstrip(b"\n").endswith(_TYPE):
        return None
    return int(found[1]), int(found[3]), found[2].decode()


def n_closed(journal: Path) -> int:
    """How many closed segments a run has, by its open journal; 0 where there is no journal."""
    try:
        with journal.open("rb") as file:
            found = follows(file.readline())
    except FileNotFoundError:
        return 0
    return 0 if found is None else found[0]


def has_rows(journal: Path, number: int) -> bool:
    """Whether a run has closed segments, up to a number, and the rows of each of them."""
    places = (segment(journal.with_name(ROWS), n) for n in range(1, number + 1))
    return number > 0 and all(place.exists() for place in places)


def closed_files(journal: Path) -> dict[str, str]:
    """The files of all closed segments with their digests, as the events after them name them.

    Raises DataError for a segment that is missing or damaged.
    """
    found: dict[str, str] = {}
    number = n_closed(journal)
    for n in range(2, number + 2):
        with journal.open("rb") if n > number else unpacked(segment(journal, n)) as lines:
            found |= read_json(lines.readline())["payload"]["files"]
    return found


def closed_bytes(journal: Path, number: int) -> int:
    """How many bytes the files of closed segments up to a number have together."""
    found = [(place, _NUMBER.search(place.name)) for place in (journal.parent / SEGMENTS).iterdir()]
    own = [place for place, at in found if at and int(at[1]) <= number and place.is_file()]
    return sum(place.stat().st_size for place in own)


def names(files: tuple[Path, ...], number: int) -> Iterator[str]:
    """The names, within the run directory, of the closed segments up to a number."""
    for path in files:
        yield from (name_of(segment(path, n)) for n in range(1, number + 1))


def remove_others(files: tuple[Path, ...], number: int) -> None:
    """Remove what a killed process left of a segment that its journal does not name yet.

    And of the files that were to begin anew.
    """
    for path in files:
        for left in path.parent.glob(f".{path.name}.*.draft"):
            left.unlink()
    folder = files[0].parent / SEGMENTS
    if not folder.is_dir():
        return
    known = {Path(name).name for name in names(files, number)}
    for left in folder.iterdir():
        if left.name not in known:
            left.unlink()
    if not known:
        folder.rmdir()


def joined(path: Path, number: int | None = None) -> BinaryIO:
    """A growing file from its first byte on: its closed segments and what is open, as one file.

    number : of closed segments; None for a journal, which says it itself. Reading raises DataError
    for a segment that is missing or damaged, OSError for the open file.
    """
    opened = path.open("rb")  # now: a writer may close a segment at any time
    if number is None:
        number, _, _ = follows(opened.readline()) or (0, 0, "")
        opened.seek(0)
    if number == 0:
        return opened
    return io.BufferedReader(_Joined([segment(path, n) for n in range(1, number + 1)], opened))


def unpacked(path: Path) -> BinaryIO:
    """What a closed segment holds. Reading raises DataError where it is missing or damaged."""
    return io.BufferedReader(_Joined([path], io.BytesIO()))


class _Joined(io.RawIOBase):
    """Compressed files one after the other, then one that is open already; read only."""

    def __init__(self, paths: list[Path], opened: io.BufferedIOBase) -> None:
        self._open = opened
        self._paths = paths[::-1]
        self._file: gzip.GzipFile | None = None
        self._left = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        while True:
            if not self._paths:
                return self._open.readinto(view)
            if content := self._unpacked(self._paths[-1], len(view)):
                view[: len(content)] = content
                return len(content)
            self._paths.pop()

    def _unpacked(self, path: Path, most: int) -> bytes:
        """The next bytes of a segment; empty at its end, where it is closed."""
        try:
            if self._file is None:
                if path.exists() and not path.is_file():  # nobody could read the end of a pipe
                    raise DataError(path, None, "not a file")
                self._file, self._left = gzip.GzipFile(path, "rb"), _MOST_BYTES
            content = self._file.read(most)
        except (OSError, EOFError, zlib.error) as error:
            problem = error.strerror if isinstance(error, OSError) else None
            raise DataError(path, None, problem or f"damaged: {error}") from None
        self._left -= len(content)
        if self._left < 0:
            raise DataError(path, None, f"unpacks to more than {_MOST_BYTES} bytes")
        if not content:
            self._file.close()
            self._file = None
        return content

    def close(self) -> None:
        self._open.close()
        if self._file is not None:
            self._file.close()
        super().close()
