"""A query in parts, and its text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from plugins.models.rule_based.querying.schema import Column, Schema


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

    def sql_with_ties(self, schema: Schema) -> str:
        """The same with its limit as a comparison, so that equals at the end are all there."""
        if not self.limit or not self.order:
            return self.sql(schema)
        order = self.order[0]
        value, _, descending = order.partition(" ")
        compared = ">=" if descending else "<="
        end = "MIN" if descending else "MAX"
        group = f" GROUP BY {self.group}" if self.group else ""
        last = (
            f"(SELECT {end}(x) FROM (SELECT {value} AS x {self.source(schema)}{group} "
            f"ORDER BY {order.replace(value, 'x')} LIMIT {self.limit}))"
        )
        reached = f"{value} {compared} {last}"
        if not self.group:
            return replace(self, limit=0, where=[*self.where, reached]).sql(schema)
        return f"{replace(self, limit=0, order=[]).sql(schema)} HAVING {reached}"
