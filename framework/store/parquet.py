"""Rows as a Parquet file: measured columns first, timing columns apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework.records import Row
from framework.rows import flat, going_up, is_measured
from framework.store.atomic import replacing

_GROUP: Final = 10_000
"""Rows of a row group: no more of them are in memory as columns."""


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write rows, sorted by key, one column a value; absent values are null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas = []
    first: list[str] = []
    for group in _groups(rows):
        first = first or list(flat(group[0], timing=True))
        names = dict.fromkeys(name for row in group for name in flat(row, timing=True))
        schemas.append(_table(group, list(names)).schema)
    order = sorted({name for one in schemas for name in one.names}, key=lambda n: _rank(n, first))
    described = {b"decisionbench.measured": ",".join(n for n in order if is_measured(n)).encode()}
    found = pa.unify_schemas(schemas or [pa.schema([])], promote_options="permissive")
    schema = pa.schema([found.field(name) for name in order], described)
    with (
        replacing(path) as draft,
        pq.ParquetWriter(draft, schema, compression="zstd") as file,
    ):
        for group in _groups(rows) if rows else [[]]:
            file.write_table(_table(group, order).cast(schema))


def _groups(rows: Sequence[Row]) -> Iterator[list[Row]]:
    ordered = going_up(rows)
    while group := list(islice(ordered, _GROUP)):
        yield group


def _table(rows: Sequence[Row], names: Sequence[str]) -> Any:
    import pyarrow as pa

    lines = [flat(row, timing=True) for row in rows]
    columns: dict[str, Any] = {}
    for name in names:
        values = [line.get(name) for line in lines]
        # Typed by hand: lists that are all empty tell no type.
        columns[name] = pa.array(values, pa.list_(pa.string())) if name == "reasons" else values
    return pa.table(columns)


def _rank(name: str, first: Sequence[str]) -> tuple[int, int, str]:
    at = first.index(name) if name in first else len(first)
    return (0 if is_measured(name) else 1, at, name)
