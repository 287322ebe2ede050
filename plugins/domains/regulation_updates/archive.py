"""The files of a regulation's versions, read so that no archive and no XML can do harm."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.parsers import expat

from framework.errors import DataError
from framework.text.reading import no_stream
from plugins.domains.data_file import BadRecordError

LARGEST: Final = 64 * 2**20
"""Bytes of all files together, unpacked."""

_MEMORY: Final = 128 * 2**20
"""Bytes that unpacking may take: an archive names the size of its own dictionary."""

_DEEPEST: Final = 60
"""Elements within elements."""


def files_of(path: str, data: bytes) -> dict[str, bytes]:
    """The XML files of a tar archive, plain or packed by xz, by name. Raises DataError."""
    try:
        return dict(_members(_unpacked(data)))
    except (BadRecordError, tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise DataError(path, None, f"not an archive of XML files: {error}") from None


def files_below(path: str) -> dict[str, bytes]:
    """The XML files below a folder, by name. Raises DataError."""
    top, found, left = Path(path).expanduser(), {}, LARGEST
    for file in sorted(top.rglob("*.xml")):
        try:
            left -= no_stream(file).stat().st_size
            if left < 0:
                raise DataError(path, None, f"more than {LARGEST >> 20} MB of XML files")
            found[str(file.relative_to(top))] = file.read_bytes()
        except OSError as error:
            raise DataError(file, None, f"cannot be read: {error.strerror}") from None
    return found


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(b"\xfd7zXZ"):
        if len(data) > LARGEST:
            raise BadRecordError(f"more than {LARGEST >> 20} MB")
        return data
    unpack = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MEMORY)
    try:
        found = unpack.decompress(data, max_length=LARGEST + 1)
    except (lzma.LZMAError, MemoryError) as error:
        raise BadRecordError(str(error)) from None
    if len(found) > LARGEST:
        raise BadRecordError(f"more than {LARGEST >> 20} MB when unpacked")
    if not unpack.eof:
        raise BadRecordError("the end is missing")
    return found


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            if not member.isfile() or not member.name.endswith(".xml"):
                continue
            # A sparse member says of itself how large it is, whatever it takes here.
            if member.issparse() or member.size > len(data):
                raise BadRecordError(f"{member.name} says that it is larger than the archive")
            file = archive.extractfile(member)
            if file is not None:
                yield member.name, file.read()


def root_of(data: bytes) -> ElementTree.Element:
    """The root of an XML document without a document type, so without entities of its own.

    Raises BadRecordError.
    """
    depth = 0

    def start(name: str, attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise BadRecordError(f"more than {_DEEPEST} elements within each other")

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def refused(*declared: object) -> None:
        raise BadRecordError("a document type is declared, which regulations never do")

    checker = expat.ParserCreate()
    checker.StartElementHandler, checker.EndElementHandler = start, end
    checker.StartDoctypeDeclHandler = checker.EntityDeclHandler = refused
    try:
        checker.Parse(data, True)
        return ElementTree.fromstring(data)
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as error:
        raise BadRecordError(f"not XML: {error}") from None
