"""Rows in tables, in memory."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import NotFound

Row = dict[str, Any]


class Store:
    """All that the service remembers. Rows are given out as copies: only `put` changes one."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[int, Row]] = {}
        self._keys: set[str] = set()
        self._last = 0

    def add(self, table: str, **values: Any) -> int:
        """A new row; its number."""
        self._last += 1
        self._tables.setdefault(table, {})[self._last] = {"id": self._last, **values}
        return self._last

    def get(self, table: str, number: int) -> Row:
        """A row. Raises NotFound."""
        try:
            return dict(self._tables[table][number])
        except KeyError:
            raise NotFound(f"{table} {number}") from None

    def put(self, table: str, number: int, **changes: Any) -> Row:
        """Change columns of a row; the row as it is then. Raises NotFound."""
        self.get(table, number)
        self._tables[table][number].update(changes)
        return self.get(table, number)

    def remove(self, table: str, number: int) -> None:
        """Forget a row. Raises NotFound."""
        self.get(table, number)
        del self._tables[table][number]

    def find(self, table: str, **where: Any) -> list[Row]:
        """The rows whose columns have these values, in the order of their numbers."""
        return [
            dict(row)
            for row in self._tables.get(table, {}).values()
            if all(row.get(name) == value for name, value in where.items())
        ]

    def count(self, table: str, **where: Any) -> int:
        """How many such rows there are."""
        return len(self.find(table, **where))

    def mark(self, key: str) -> None:
        """Remember a key."""
        self._keys.add(key)

    def seen(self, key: str) -> bool:
        """Whether a key was marked before."""
        return key in self._keys

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Undo every change of the block when it raises."""
        kept = copy.deepcopy((self._tables, self._keys, self._last))
        try:
            yield
        except BaseException:
            self._tables, self._keys, self._last = kept
            raise
