"""What a run's extractor found, over all its histories, from the run's own records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framework.pipeline.extraction import summed
from framework.records import Row
from framework.store.answers import answer_records


def extraction_of(directory: Path, rows: Sequence[Row]) -> dict[str, Any]:
    """Counts, precision and recall of nodes and edges by type, each memory counted once.

    Empty for a run without an extractor. See `framework.pipeline.extraction.summed`.
    """
    memories = {row.key: (row.history_id, row.trial, row.repeat) for row in rows}
    found: dict[tuple[str, int, int], Any] = {}
    for record in answer_records(directory):
        memory = memories.get(tuple(record["key"]))
        if memory is not None and record.get("extraction"):
            found.setdefault(memory, record["extraction"])
    return summed(found.values())
