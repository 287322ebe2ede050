"""The text files of a corpus as it is published: a folder of them, or a tar archive."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from framework.errors import DataError
from plugins.domains.data_file import BadRecordError, Faults

MOST_BYTES: Final = 8_000_000
"""Of one document; the longest of public corpora have a twentieth of it."""
_BLOCK: Final = 2**20
"""Read at once, so that no more is held than was counted."""
_MOST_IN_ALL: Final = 400_000_000
"""Of what an archive unpacks to: a small one may hold terabytes of one byte. A member's header is
held three times while it is read, so that so much of one takes 1.2 GB."""
_PACKED: Final[tuple[tuple[bytes, Any], ...]] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)


def text_files(path: Path, suffixes: tuple[str, ...], faults: Faults) -> Iterator[tuple[str, str]]:
    """Name below `path` and text of each file with such an ending, in order of name.

    A folder without any may hold archives of them. Hidden files and folders are left out. What is
    no text, or longer than `MOST_BYTES`, is a fault. Raises DataError for a path that is not there,
    and an archive that can't be read.
    """
    if not path.exists():
        raise DataError(path, None, "no such file or directory")
    if not path.is_dir():
        yield from sorted(_archived(path, suffixes, faults))
        return
    found = sorted(f for f in path.rglob("*") if _wanted(f.relative_to(path).as_posix(), suffixes))
    for file in found:
        name = file.relative_to(path).as_posix()
        with faults.of(name):
            if not file.is_file():
                continue
            try:
                if file.stat().st_size > MOST_BYTES:
                    raise BadRecordError(_TOO_LONG)
                text = text_of(file.read_bytes())
            except OSError as error:
                raise BadRecordError(f"cannot be read: {error.strerror}") from None
            yield name, text
    for archive in [] if found else sorted(path.glob("*.tar*")):
        yield from sorted(_archived(archive, suffixes, faults))


def text_of(data: bytes) -> str:
    """UTF-8 text with one kind of line end and without a byte order mark. BadRecordError."""
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise BadRecordError("not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


_TOO_LONG: Final = f"longer than {MOST_BYTES // 1_000_000} MB: no document"


def _wanted(name: str, suffixes: tuple[str, ...]) -> bool:
    parts = PurePosixPath(name).parts
    return name.lower().endswith(suffixes) and not any(part.startswith(".") for part in parts)


def _archived(path: Path, suffixes: tuple[str, ...], faults: Faults) -> Iterator[tuple[str, str]]:
    try:
        with _opened(path) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
            for member in tar:
                if not member.isfile() or not _wanted(member.name.removeprefix("./"), suffixes):
                    continue
                with faults.of(member.name):
                    if member.size > MOST_BYTES:
                        raise BadRecordError(_TOO_LONG)
                    content = tar.extractfile(member)
                    yield member.name, text_of(content.read() if content else b"")
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        said = str(error).partition("\n")[0]
    except (MemoryError, OverflowError):
        said = "it says of itself that it is larger than memory"
    else:
        return
    raise DataError(path, None, f"not a tar archive: {said}")


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        start = file.read(6)
    unpack = next((opened for magic, opened in _PACKED if start.startswith(magic)), open)
    return io.BufferedReader(_Bounded(unpack(path, "rb")))


class _Bounded(io.RawIOBase):
    """A stream that ends in OSError beyond `_MOST_IN_ALL`, whatever an archive says of itself."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(min(len(buffer), _BLOCK))
        buffer[: len(data)] = data
        self._check(self._inner.tell())
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check(offset)
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def close(self) -> None:
        self._inner.close()
        super().close()

    def _check(self, place: int) -> None:
        if place > _MOST_IN_ALL:
            raise OSError(f"it unpacks to more than {_MOST_IN_ALL // 1_000_000} MB")
