"""A query in parts, and its text."""

from __future__ import annotations

from dataclasses import dataclass, field

from framework.operations.querying.schema import Column, Schema

__all__ = ["Query"]


@dataclass(slots=True)
class Query:
    """A query in parts. `base` is the table that the others are joined to."""

    base: str
    selected: list[str]
    tables: dict[str, None] = field(default_factory=dict)
    where: list[str] = field(default_factory=list)
    group: str = ""
    order: list[str] = field(default_factory=list)
    limit: int = 0
    columns: list[Column] = field(default_factory=list)
    distinct: bool = False
    outer: bool = False

    def source(self, schema: Schema) -> str:
        """FROM and WHERE."""
        join = "LEFT JOIN" if self.outer else "JOIN"
        steps = schema.joined(self.base, self.tables)
        joins = "".join(f" {join} {name} ON {link.sql}" for name, link in steps)
        where = f" WHERE {' AND '.join(dict.fromkeys(self.where))}" if self.where else ""
        return f"FROM {self.base}{joins}{where}"

    def sql(self, schema: Schema) -> str:
        """The whole of it."""
        distinct = "DISTINCT " if self.distinct else ""
        parts = [f"SELECT {distinct}{', '.join(self.selected)} {self.source(schema)}"]
        if self.group:
            parts.append(f"GROUP BY {self.group}")
        if self.order:
            parts.append(f"ORDER BY {', '.join(self.order)}")
        if self.limit:
            parts.append(f"LIMIT {self.limit}")
        return " ".join(parts)
