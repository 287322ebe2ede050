"""Spider: questions that a query answers over many databases, whose tables memory holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from framework.registry import register
from plugins.domains.data_file import BadRecordError, list_in, object_in, text_in
from plugins.domains.text_to_sql.shape import Asked, Queries


@register("domain", "spider")
class Spider(Queries):
    """Spider (Yu et al., EMNLP 2018) with its schemas in memory, scored by execution.

    The task card names the question's database and not its schema, which Spider hands over. The
    tables that a query needs, in it and in the queries in it, are those of the file's parsed form.
    """

    @classmethod
    def tables(cls, record: Mapping[str, Any]) -> Sequence[str]:
        if not re.fullmatch(r"[\w-]+", text_in(record, "db_id")):
            raise BadRecordError(f"db_id: {record['db_id']!r} names no folder")
        names = list_in(record, "table_names_original")
        return [text_in({"table_names_original": name}, "table_names_original") for name in names]

    @classmethod
    def question(cls, database: str, record: Mapping[str, Any], tables: Sequence[str]) -> Asked:
        parsed = object_in(record, "sql")
        needed = dict.fromkeys(_units(parsed))
        if not needed or not all(0 <= unit < len(tables) for unit in needed):
            raise BadRecordError(f"sql: tables {[*needed]} of {len(tables)}")
        return Asked(
            database=database,
            **cls.card.parts(record),
            ordered=bool(parsed.get("orderBy")),
            tables=tuple(tables[unit] for unit in needed),
        )


def _units(parsed: object) -> Iterator[int]:
    """The places of the tables of a parsed query and of the queries in it, as the file has them."""
    stack = [parsed]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            stack += reversed(part.values())
        elif isinstance(part, list):
            if len(part) == 2 and part[0] == "table_unit" and type(part[1]) is int:
                yield part[1]
            stack += reversed(part)
