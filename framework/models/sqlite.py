"""Opening a sqlite file that several processes share."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

from framework.errors import UserError

_WAIT_S: Final = 30.0


def connect(path: Path, schema: str) -> sqlite3.Connection:
    """A connection in write-ahead mode, with the tables of `schema` there, each write its own.

    A kill of the process loses no write that returned; loss of power can. Raises UserError for a
    file that is no database or can't be written.
    """
    until = time.monotonic() + _WAIT_S
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            # Threads take turns here: a run's loop, and before and after it whoever started it.
            connection = sqlite3.connect(
                path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
            try:
                # Changing the mode does not wait for a lock, as all else does.
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("PRAGMA wal_autocheckpoint=8000")
                for statement in schema.split(";"):
                    connection.execute(statement)
                return connection
            except sqlite3.OperationalError as error:
                connection.close()
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            except sqlite3.DatabaseError:
                connection.close()
                raise
    except (sqlite3.Error, OSError) as error:
        raise UserError(f"{path}: can't be used as a database: {error}") from None
