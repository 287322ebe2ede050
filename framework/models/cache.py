"""The response cache: what was paid for once is never paid for again.

One sqlite file, safe for several processes. A response is found by the digest of the provider, its
address, the whole request and a sample index. Neither the request nor any key or header is in it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from framework.errors import StopRun
from framework.models.sqlite import connect
from framework.text.canonical import digest
from framework.text.reading import read_json

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, operation TEXT NOT NULL, response TEXT NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A provider's answer to one request, as it is stored.

    stop : how it ended: by itself, at `max_tokens` (`length`), or refused; `unfit` where nothing
        was asked, as `tokens_in`, with room for the answer, are more than the model's `context`.
    tokens_in : all tokens of the request; of these tokens_cached were read from the provider's
        prompt cache and tokens_written put into it. model : the snapshot that answered.
    seconds : what the call took when it was made. confidence : by log-probabilities, the share of
        the choice it made or the likelihood of the text; None where it was not asked for them.
    """

    text: str
    stop: Literal["end", "length", "refused", "unfit"]
    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    tokens_written: int = 0
    model: str = ""
    seconds: float = 0.0
    confidence: float | None = None
    context: int = 0


def key_of(provider: str, base_url: str, request: Mapping[str, Any], sample: int) -> str:
    """The digest that names the response to a request."""
    return digest(
        {"provider": provider, "base_url": base_url, "request": request, "sample": sample}
    )


class ResponseCache:
    """Responses on disk.

    Raises UserError where the file can't be used, and StopRun where it no longer can.
    """

    def __init__(self, path: Path) -> None:
        self._connection = connect(path, _SCHEMA)
        self._path = path

    def get(self, key: str) -> Response | None:
        """The stored response; None where there is none, or one that can't be read."""
        found = self._execute("SELECT response FROM responses WHERE key = ?", (key,)).fetchone()
        try:
            return None if found is None else Response(**read_json(found[0]))
        except (TypeError, ValueError):
            self._execute("DELETE FROM responses WHERE key = ?", (key,))
            return None

    def put(self, key: str, operation: str, response: Response) -> None:
        """Store a response; it is the kernel's when this returns. The first one stays."""
        # `asdict` copies deeply, which is slow, and there is nothing deep here.
        plain = {name: getattr(response, name) for name in Response.__slots__}
        text = json.dumps(plain, separators=(",", ":"))
        self._execute("INSERT OR IGNORE INTO responses VALUES (?, ?, ?)", (key, operation, text))

    def _execute(self, statement: str, values: tuple[str, ...]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise StopRun(f"{self._path}: can't be used as a database any more: {error}") from None

    def claim(self, key: str) -> bool:
        """Whether this process alone may now ask for a response; another has it until it lets go.

        The kernel keeps the claim, a lock on a byte that no file has to have, and drops it with the
        process. It holds against other processes only.
        """
        try:
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def let_go(self, key: str) -> None:
        """Let another process ask."""
        fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        if "_locks" in self.__dict__:
            os.close(self._locks)
            del self._locks

    @cached_property
    def _locks(self) -> int:
        return os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o666)


def _place(key: str) -> int:
    """The byte that stands for a key: its digest's last 15 digits, which a file offset can be."""
    return int(key[-15:], 16)
