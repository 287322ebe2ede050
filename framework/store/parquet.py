"""Rows as a Parquet file: measured columns first, timing columns apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framework.records import Row
from framework.rows import flat, in_order, is_measured
from framework.store.atomic import replacing


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write rows, sorted by key, one column a value; absent values are null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines = [flat(row, timing=True) for row in in_order(rows)]
    columns: dict[str, Any] = {}
    names = sorted({name for line in lines for name in line}, key=lambda n: _rank(n, lines))
    for name in names:
        values = [line.get(name) for line in lines]
        # Typed by hand: lists that are all empty tell no type.
        columns[name] = pa.array(values, pa.list_(pa.string())) if name == "reasons" else values
    table = pa.table(columns)
    described = {b"decisionbench.measured": ",".join(n for n in names if is_measured(n)).encode()}
    with replacing(path) as draft:
        pq.write_table(table.replace_schema_metadata(described), draft, compression="zstd")


def _rank(name: str, lines: Sequence[Mapping[str, Any]]) -> tuple[int, int, str]:
    order = {key: i for i, key in enumerate(lines[0])} if lines else {}
    return (0 if is_measured(name) else 1, order.get(name, len(order)), name)
