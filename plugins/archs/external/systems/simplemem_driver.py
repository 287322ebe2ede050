"""SimpleMem: `add_dialogue` for an event; for a query what its `ask` finds before it answers.

    python simplemem_driver.py

Defaults of the product, but for:
- the run's embedder in the place of the model that it would download;
- no streams, which are not carried, and no threads, so that results have one order.
It writes memories from windows of 40 events. What is left of a window is written with the next
search, as its `finalize` does, so that the model's calls for it are booked on that search.
A memory names no event: it is traced by its words.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import bridge

# isort: split
import numpy as np
import simplemem.system
from simplemem.system import SimpleMemSystem

SPEAKER = "user"
"""Of an event that names none."""


class Vectors:
    """The run's embedder, as the product asks its own."""

    def __init__(self) -> None:
        self.dimension = bridge.DIMENSION

    def encode_documents(self, documents: list[str]) -> Any:
        """A row for each text."""
        return np.array(bridge.embed(list(documents)), dtype=np.float32)

    def encode_single(self, text: str, is_query: bool = False) -> Any:
        """The vector of a text."""
        return self.encode_documents([text])[0]


simplemem.system.EmbeddingModel = Vectors


def shown(memory: Any) -> str:
    """A memory as the product puts it before its model, its number left out."""
    told = {
        "Content": memory.lossless_restatement,
        "Time": memory.timestamp,
        "Location": memory.location,
        "Persons": ", ".join(memory.persons),
        "Related Entities": ", ".join(memory.entities),
        "Topic": memory.topic,
    }
    return "\n".join(f"{name}: {value}" for name, value in told.items() if value)


class Memories:
    """A database of its own for each history."""

    def __init__(self) -> None:
        self._stores = itertools.count()
        self.reset()

    def reset(self) -> None:
        self._system = SimpleMemSystem(
            api_key="none",
            model="run",
            base_url=bridge.BASE_URL,
            db_path=str(Path(os.environ["HOME"]) / f"store{next(self._stores)}"),
            use_streaming=False,
            enable_parallel_processing=False,
            enable_parallel_retrieval=False,
        )
        self._unfinished = False

    def write(self, event: dict[str, Any]) -> None:
        self._system.add_dialogue(
            event.get("speaker") or SPEAKER, event["text"], event.get("time") or None
        )
        self._unfinished = True

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        if self._unfinished:
            self._system.finalize()
            self._unfinished = False
        found = self._system.hybrid_retriever.retrieve(query)
        return [{"text": shown(memory)} for memory in found[:limit]]


if __name__ == "__main__":
    bridge.serve(Memories())
