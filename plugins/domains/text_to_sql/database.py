"""A sqlite database that can only be read, with limits on what one query may take."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from framework.errors import DataError
from framework.text.counting import counted

_READING: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_STEPS: Final = 1_000
"""Virtual machine instructions between two looks at the clock."""
_LONGEST_VALUE: Final = 1_000_000
"""Bytes of one value: a query can't build a longer text."""
_SCRIPT_S: Final = 10.0
"""For what a script does to make its database."""
_PAGES: Final = 65_536
"""Of 4 KB, that such a database may have."""
_DIGITS: Final = 6

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A query's rows; where it failed there are none and `error` says why."""

    rows: tuple[Row, ...] = ()
    error: str = ""


class Database:
    """One database, opened for reading.

    Args:
        path: a sqlite file, or a script of SQL statements whose name ends with `.sql`, from which a
            database in memory is made; it can't reach another file, and has ten seconds.
        seconds: a query that takes longer is stopped.
        rows: a query with more rows is an error.

    `schema` is the statement that made each table, `columns` the names of its columns.

    Raises DataError when there is no such file or it is no database.
    """

    def __init__(self, path: Path, *, seconds: float, rows: int) -> None:
        self._seconds = seconds
        self._rows = rows
        if not path.is_file():
            raise DataError(path, None, "no such file")
        try:
            self._connection = _open(path)
            self.schema = self._read_schema()
            self.columns = {name: self._read_columns(name) for name in self.schema}
        except (sqlite3.Error, ValueError) as error:
            raise DataError(path, None, f"not an SQLite database: {error}") from None
        if not self.schema:
            raise DataError(path, None, "a database without tables")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.set_authorizer(_only_reading)

    def _read_schema(self) -> dict[str, str]:
        """The statement that made each table, by its name."""
        made = self._connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return {str(name): str(sql) for name, sql in made}

    def _read_columns(self, table: str) -> tuple[str, ...]:
        quoted = table.replace('"', '""')
        found = self._connection.execute(f'SELECT * FROM "{quoted}" LIMIT 0').description
        return tuple(str(column[0]) for column in found)

    def run(self, sql: str) -> Table:
        """The rows of one query. Whatever is wrong with it becomes the table's error."""
        until = time.monotonic() + self._seconds
        self._connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        try:
            cursor = self._connection.execute(sql)
            if cursor.description is None:
                return Table(error="no query: it gives no rows")
            rows = cursor.fetchmany(self._rows + 1)
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, UnicodeError) as error:
            reason = "it took too long" if "interrupted" in str(error) else str(error)
            return Table(error=reason)
        finally:
            self._connection.set_progress_handler(None, 0)
        if len(rows) > self._rows:
            return Table(error=f"more than {counted(self._rows, 'row')}")
        return Table(rows=tuple(tuple(row) for row in rows))


def same_rows(given: Sequence[Row], expected: Sequence[Row], *, ordered: bool) -> bool:
    """Whether two results hold the same rows: as lists where the order is asked for, as multisets.

    Numbers are equal that agree to six decimal places, whole or not; all else is compared as it is.
    """
    one, other = [list(map(_comparable, rows)) for rows in (given, expected)]
    return one == other if ordered else Counter(one) == Counter(other)


def _comparable(row: Row) -> Row:
    return tuple(round(float(v), _DIGITS) + 0.0 if isinstance(v, (int, float)) else v for v in row)


def _open(path: Path) -> sqlite3.Connection:
    if path.suffix == ".sql":
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)  # of VACUUM INTO too
        connection.execute(f"PRAGMA max_page_count = {_PAGES}")
        connection.set_authorizer(_within_bounds)
        until = time.monotonic() + _SCRIPT_S
        connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        connection.executescript(path.read_text(encoding="utf-8-sig"))
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)
    else:
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _within_bounds(action: int, one: str | None, *_: str | None) -> int:
    lifts = action == sqlite3.SQLITE_PRAGMA and one == "max_page_count"
    return sqlite3.SQLITE_DENY if lifts else sqlite3.SQLITE_OK


def _only_reading(action: int, one: str | None, two: str | None, *_: str | None) -> int:
    allowed = action in _READING and two != "load_extension"
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
