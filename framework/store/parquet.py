"""Rows as a Parquet file: measured columns first, timing columns apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from framework.records import Row
from framework.rows import flat, in_order, is_measured
from framework.store.atomic import replacing

_GROUP: Final = 10_000
"""Rows of a row group: no more of them are in memory as columns."""


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write rows, sorted by key, one column a value; absent values are null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = in_order(rows)
    first = list(flat(rows[0], timing=True)) if rows else []
    names = set(first)
    for row in rows:
        names.update(flat(row, timing=True))
    order = sorted(names, key=lambda name: _rank(name, first))
    groups = [rows[at : at + _GROUP] for at in range(0, max(len(rows), 1), _GROUP)]
    schemas = [_table(group, order).schema for group in groups]
    described = {b"decisionbench.measured": ",".join(n for n in order if is_measured(n)).encode()}
    schema = pa.unify_schemas(schemas, promote_options="permissive").with_metadata(described)
    with (
        replacing(path) as draft,
        pq.ParquetWriter(draft, schema, compression="zstd") as file,
    ):
        for group in groups:
            file.write_table(_table(group, order).cast(schema))


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
