"""A database's schema, read from the statements that made its tables."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_TABLE: Final = re.compile(
    r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\[\"`]?(?P<name>\w+)[\]\"`]?\s*\((?P<body>.*?)\)\s*;",
    re.IGNORECASE | re.DOTALL,
)
_COLUMN: Final = re.compile(r"^[\[\"`]?(?P<name>\w+)[\]\"`]?\s+(?P<type>[A-Za-z]+)")
_INLINE: Final = re.compile(
    r"REFERENCES\s+[\[\"`]?(\w+)[\]\"`]?\s*\(\s*[\[\"`]?(\w+)", re.IGNORECASE
)
_FOREIGN: Final = re.compile(
    r"FOREIGN\s+KEY\s*\(\s*[\[\"`]?(\w+)[\]\"`]?\s*\)\s*REFERENCES\s+[\[\"`]?(\w+)[\]\"`]?\s*"
    r"\(\s*[\[\"`]?(\w+)",
    re.IGNORECASE,
)
_PRIMARY: Final = re.compile(r"PRIMARY\s+KEY\s*\(\s*[\[\"`]?(\w+)", re.IGNORECASE)
_CONSTRAINTS: Final = frozenset({"constraint", "primary", "foreign", "unique", "check", "on"})
_SHOWN: Final = ("name", "title")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. `values` are those that a comment behind it lists."""

    table: str
    name: str
    is_text: bool
    values: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """The column with its table, as a query names it."""
        return f"{self.table}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A foreign key: `child.column` refers to `parent.key`."""

    child: str
    column: str
    parent: str
    key: str

    @property
    def sql(self) -> str:
        """The condition of a join over it."""
        return f"{self.child}.{self.column} = {self.parent}.{self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. `key` is its primary key, the first column where it names none."""

    name: str
    columns: tuple[Column, ...]
    key: str

    def column(self, name: str) -> Column | None:
        """The column of that name, in whatever case."""
        return next((c for c in self.columns if c.name.casefold() == name.casefold()), None)

    @property
    def shown(self) -> Column:
        """The column that stands for a row: its name or title, else its key."""
        found = [self.column(name) for name in (*_SHOWN, self.key)]
        return next((c for c in found if c is not None), self.columns[0])

    @property
    def is_named(self) -> bool:
        """Whether its rows have a name or a title."""
        return self.shown.name.casefold() in _SHOWN


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables by name, in order, and the links between them."""

    tables: dict[str, Table]
    links: tuple[Link, ...]

    def parents(self, table: str) -> list[str]:
        """The tables above one, over foreign keys, nearest first."""
        order: dict[str, None] = {}
        queue = deque([table])
        while queue:
            child = queue.popleft()
            for link in self.links:
                if link.child == child and link.parent not in order and link.parent != table:
                    order[link.parent] = None
                    queue.append(link.parent)
        return list(order)

    def joined(self, start: str, wanted: Iterable[str]) -> list[tuple[str, Link]]:
        """Tables to add to `start`, one by one with the link each hangs on, to reach all `wanted`.

        The shortest ways over links in either direction; a table that none leads to is left out.
        """
        steps: dict[str, Link] = {}
        for goal in wanted:
            for name, link in self._way(start, goal):
                if name != start:
                    steps.setdefault(name, link)
        return self._in_order(start, steps)

    def _way(self, start: str, goal: str) -> list[tuple[str, Link]]:
        reached: dict[str, tuple[str, Link] | None] = {start: None}
        queue = deque([start])
        while queue and goal not in reached:
            here = queue.popleft()
            for link in self.links:
                if here in (link.child, link.parent):
                    there = link.parent if here == link.child else link.child
                    if there not in reached:
                        reached[there] = (here, link)
                        queue.append(there)
        way: list[tuple[str, Link]] = []
        while (step := reached.get(goal)) is not None:
            way.append((goal, step[1]))
            goal = step[0]
        return way[::-1]

    @staticmethod
    def _in_order(start: str, steps: dict[str, Link]) -> list[tuple[str, Link]]:
        known, order, waiting = {start}, [], dict(steps)
        while waiting:
            ready = [n for n, link in waiting.items() if {link.child, link.parent} - {n} <= known]
            if not ready:
                break
            order.append((ready[0], waiting.pop(ready[0])))
            known.add(ready[0])
        return order


@lru_cache(maxsize=64)
def read_schema(text: str) -> Schema:
    """The schema that `CREATE TABLE` statements describe, each ended by a semicolon.

    A comment behind a column (`-- new, good, worn`) lists its values.
    """
    tables: dict[str, Table] = {}
    links: list[Link] = []
    for match in _TABLE.finditer(text if text.rstrip().endswith(";") else f"{text};"):
        name = match["name"]
        columns: list[Column] = []
        key = ""
        for raw in match["body"].splitlines():
            line, _, comment = raw.strip().partition("--")
            for column, parent, parent_key in _FOREIGN.findall(line):
                links.append(Link(child=name, column=column, parent=parent, key=parent_key))
            if primary := _PRIMARY.search(line):
                key = primary[1]
            found = _COLUMN.match(line)
            if found is None or found["name"].casefold() in _CONSTRAINTS:
                continue
            values = tuple(value.strip() for value in comment.split(",") if value.strip())
            is_text = found["type"].upper() in ("TEXT", "VARCHAR", "NVARCHAR", "CHAR", "DATETIME")
            columns.append(Column(table=name, name=found["name"], is_text=is_text, values=values))
            if "PRIMARY KEY" in line.upper():
                key = found["name"]
            if inline := _INLINE.search(line):
                links.append(
                    Link(child=name, column=found["name"], parent=inline[1], key=inline[2])
                )
        if columns:
            tables[name] = Table(name=name, columns=tuple(columns), key=key or columns[0].name)
    return Schema(tables, tuple(link for link in links if link.parent in tables))
