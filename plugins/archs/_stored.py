"""Indexes on disk, by the digest of what they are made of: texts, settings, code and versions.

A file is one line that says what follows, with its own digest before it, then arrays as they lie in
memory, each with its digest in that line. Nothing in it is code. A file that is not as it was
written is said, and made again; one that can't be written is said, and done without.
"""

from __future__ import annotations

import hashlib
import logging
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from framework.store.atomic import replacing
from framework.text.canonical import canonical_bytes, digest, digest_bytes, digest_entry
from framework.text.reading import read_json

LEAST: Final = 1_000
"""Histories of fewer texts are indexed in less time than a file takes."""
_FORMAT: Final = 1
_LINE: Final = 1 << 16
_TYPES: Final = {"<f4", "<i4", "<i8", "|u1"}

_log = logging.getLogger(__name__)

Arrays = Mapping[str, NDArray[Any]]


class IndexFile:
    """The file of one index.

    texts : of which it is made, in order. made_by : all else that it hangs on, as plain data; the
    versions of Python (whose tables of Unicode tell what a word is) and numpy are added, and what
    numpy may use of the processor. code : source files, which count by their content.
    """

    def __init__(
        self, folder: Path, texts: Sequence[str], made_by: Mapping[str, Any], code: Sequence[str]
    ) -> None:
        self._key = digest(
            {
                "format": _FORMAT,
                "texts": _digest_of(texts),
                "made_by": made_by,
                "code": [digest_entry(Path(file)) for file in code],
                "python": platform.python_version(),
                "machine": platform.machine(),
                "numpy": np.__version__,
                "simd": np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", []),
            }
        )
        self.path = folder / f"{self._key.rpartition(':')[2]}.index"

    def load(self) -> Arrays | None:
        """What was kept, bit for bit; None where nothing was, or the file is damaged."""
        try:
            with self.path.open("rb") as file:
                return self._read(file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else error
            _log.warning("%s: %s; the index is made again", self.path, problem)
            return None

    def keep(self, arrays: Arrays) -> None:
        """Write the arrays in one step: of several processes the last to end has the file."""
        content = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        said = [
            [name, array.dtype.str, list(array.shape), _digest(array)]
            for name, array in content.items()
        ]
        head = canonical_bytes({"key": self._key, "arrays": said})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as draft, draft.open("wb") as file:
                file.write(b"%b %b\n" % (digest_bytes(head).encode(), head))
                for array in content.values():
                    file.write(_bytes(array))
        except OSError as error:
            _log.warning("%s: %s; the index is not kept", self.path, error.strerror)

    def _read(self, file: BinaryIO) -> Arrays:
        own, _, head = file.readline(_LINE).rstrip(b"\n").partition(b" ")
        if digest_bytes(head).encode() != own:
            raise ValueError("damaged: not an index as it was written")
        said = read_json(head)
        if said["key"] != self._key:
            raise ValueError("the index of something else")
        found: dict[str, NDArray[Any]] = {}
        for name, type_, shape, written in said["arrays"]:
            if type_ not in _TYPES:
                raise ValueError(f"no array of ours: {type_}")
            array = np.empty(shape, type_)
            if file.readinto(_bytes(array)) != array.nbytes:  # type: ignore[attr-defined]
                raise ValueError(f"cut off within {name}")
            if _digest(array) != written:
                raise ValueError(f"damaged: {name} is not as it was written")
            found[name] = array
        if file.read(1):
            raise ValueError("longer than it was written")
        return found


def index_file(
    folder: str | None, texts: Sequence[str], made_by: Mapping[str, Any], code: Sequence[str]
) -> IndexFile | None:
    """The file of an index, as `IndexFile`; None where none is kept: no folder, or few texts."""
    if folder is None or len(texts) < LEAST:
        return None
    return IndexFile(Path(folder), texts, made_by, code)


def _digest_of(texts: Sequence[str]) -> str:
    found = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        found.update(len(content).to_bytes(8, "little"))
        found.update(content)
    return found.hexdigest()


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _digest(array: NDArray[Any]) -> str:
    return hashlib.sha256(_bytes(array)).hexdigest()
