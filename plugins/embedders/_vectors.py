"""The cache of embeddings: a text is embedded once on a machine, whichever run asks first."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

from framework.models.sqlite import connect
from framework.text.canonical import digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)"


class VectorCache:
    """Vectors on disk by the digest of model, form and text; the file is opened on use.

    path : the file, safe for several processes; None keeps nothing. model : whatever names the
    numbers. Raises UserError where the file can't be used.
    """

    def __init__(self, path: Path | None, model: str) -> None:
        self._path = path
        self._model = model
        self._opened: sqlite3.Connection | None = None

    def get(self, form: str, text: str) -> NDArray[np.float32] | None:
        """The stored vector of a text in a form, None where there is none."""
        import numpy as np

        if (db := self._db()) is None:
            return None
        found = db.execute(
            "SELECT vector FROM vectors WHERE key = ?", (self._key(form, text),)
        ).fetchone()
        return None if found is None else np.frombuffer(found[0], dtype="<f4").astype(np.float32)

    def put(self, form: str, text: str, vector: NDArray[np.float32]) -> None:
        """Store a vector; the first one stays."""
        if (db := self._db()) is not None:
            row = (self._key(form, text), vector.astype("<f4").tobytes())
            db.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?)", row)

    def close(self) -> None:
        """Let go of the file."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _key(self, form: str, text: str) -> str:
        return digest([self._model, form, text])

    def _db(self) -> sqlite3.Connection | None:
        if self._opened is None and self._path is not None:
            self._opened = connect(self._path, _SCHEMA)
        return self._opened
