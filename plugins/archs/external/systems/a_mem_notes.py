"""A-MEM (the package a-mem): `add_note` for an event, `search_agentic` and `read` for a query.

    python a_mem_notes.py

Defaults of the product, but for the run's embedder in the place of the model that it would
download. A language model describes each note, and links it to others or changes these. A result
is a note as the product lays it before its model: its time, text, context, keywords and tags. Notes
that are linked to those found follow these.
"""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import Any

import bridge

# isort: split
import agentic_memory.retrievers
from agentic_memory.memory_system import AgenticMemorySystem
from chromadb import EmbeddingFunction

MINUTES = 12
"""Digits of a time as the product writes it: year to minute."""


class Embedder(EmbeddingFunction):  # type: ignore[misc]  # of a package that is not ours
    """The run's, as Chroma asks for it; it takes the name of the model that it replaces."""

    def __init__(self, model_name: str = "") -> None: ...

    def __call__(self, input: Any) -> Any:
        return bridge.embed(list(input))


agentic_memory.retrievers.SentenceTransformerEmbeddingFunction = Embedder


def minute(time: str) -> str | None:
    """An event's time in the product's form; None where it has none, which is then the clock's."""
    digits = re.sub(r"\D", "", time)
    return digits[:MINUTES].ljust(MINUTES, "0") if len(digits) >= len("20260301") else None


class Notes:
    """A folder of its own for each history."""

    def __init__(self) -> None:
        self._stores = itertools.count()
        self.reset()

    def reset(self) -> None:
        self._system = AgenticMemorySystem(
            llm_backend="openai",
            llm_model="run",
            api_key="none",
            storage_path=str(Path(os.environ["HOME"]) / f"store{next(self._stores)}"),
        )

    def write(self, event: dict[str, Any]) -> None:
        self._system.add_note(event["text"], time=minute(event.get("time", "")), id=event["id"])

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self._system.search_agentic(query, k=limit)
        return [self._shown(one["id"]) for one in found]

    def _shown(self, name: str) -> dict[str, Any]:
        note = self._system.read(name)
        text = (
            f"talk start time:{note.timestamp}\tmemory content: {note.content}\t"
            f"memory context: {note.context}\tmemory keywords: {note.keywords}\t"
            f"memory tags: {note.tags}"
        )
        return {"text": text, "id": name}


if __name__ == "__main__":
    bridge.serve(Notes())
