"""Rows as a Parquet file: measured columns first, timing columns apart."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError
from framework.records import Row, RowKey
from framework.rows import KEY, flat, going_up, is_measured
from framework.store.atomic import replacing

MEASURED: Final = b"decisionbench.measured"
"""Of the file's metadata: the columns that were measured, the others told by a clock or a price."""
_GROUP: Final = 2_000
"""Rows of a row group: no more of them are in memory as columns."""
_KINDS: Final = (bool, int, float, str, list)


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write rows, sorted by key, one column a value; absent values are null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    first: list[str] = []
    kinds: dict[str, set[type]] = defaultdict(set)
    for row in going_up(rows):
        line = flat(row, timing=True)
        first = first or list(line)
        for name, value in line.items():
            kinds[name] |= {kind for kind in _KINDS if isinstance(value, kind)}
    order = sorted(kinds, key=lambda n: _rank(n, first))
    described = {MEASURED: ",".join(n for n in order if is_measured(n)).encode()}
    schema = pa.schema([(name, _type(kinds[name])) for name in order], described)
    with (
        replacing(path) as draft,
        pq.ParquetWriter(draft, schema, compression="zstd") as file,
    ):
        for group in _groups(rows):
            file.write_table(_table(group, schema))
        if not rows:
            file.write_table(schema.empty_table())


def outcomes_in(path: Path) -> Iterator[tuple[RowKey, str]]:
    """The key of each row of a file with its error, "" for none; no other column is read.

    Raises DataError where the file is missing or damaged.
    """
    import pyarrow.parquet as pq

    if not path.is_file():
        raise DataError(path, None, "not a file" if path.exists() else "No such file or directory")
    try:
        *keys, errors = pq.ParquetFile(path).read([*KEY, "error"]).to_pydict().values()
        yield from zip(zip(*keys, strict=True), errors, strict=True)
    except (OSError, ValueError, LookupError) as error:  # Arrow's own are ValueError
        raise DataError(path, None, f"damaged: {error}") from None


def _groups(rows: Sequence[Row]) -> Iterator[list[Row]]:
    ordered = going_up(rows)
    while group := list(islice(ordered, _GROUP)):
        yield group


def _type(kinds: Set[type]) -> Any:
    """The column's type, by the Python types of its values."""
    import pyarrow as pa

    if bool in kinds:
        return pa.bool_()
    if float in kinds:
        return pa.float64()
    if int in kinds:
        return pa.int64()
    if list in kinds:
        return pa.list_(pa.string())
    return pa.string() if str in kinds else pa.null()


def _table(rows: Sequence[Row], schema: Any) -> Any:
    """The rows as columns. By way of JSON: whatever makes arrays of values imports pandas (1 s)."""
    from pyarrow.json import ParseOptions, ReadOptions, read_json

    lines = "\n".join(json.dumps(flat(row, timing=True)) for row in rows).encode()
    table = read_json(
        io.BytesIO(lines),
        ReadOptions(use_threads=False, block_size=len(lines) + 1),
        ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )
    return table.replace_schema_metadata(schema.metadata)


def _rank(name: str, first: Sequence[str]) -> tuple[int, int, str]:
    at = first.index(name) if name in first else len(first)
    return (0 if is_measured(name) else 1, at, name)
