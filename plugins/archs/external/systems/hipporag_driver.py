"""HippoRAG 2: `index` for an event, `retrieve` for a query.

    python hipporag_driver.py

Defaults of the product, but for:
- the run's model and embedder by its own settings for servers that speak OpenAI's protocol; of its
  embedders the one for these has "text-embedding" in its name;
- after a write what a search prepared is prepared again, as its own `delete` has it: otherwise
  nothing that is written after a search would be found.
Results are texts of events as they are. Events of the same text are one document.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import bridge

# isort: split
from hipporag import HippoRAG


class Documents:
    """A folder of its own for each history."""

    def __init__(self) -> None:
        self._stores = itertools.count()
        self.reset()

    def reset(self) -> None:
        self._events: dict[str, list[str]] = {}
        self._rag = HippoRAG(
            save_dir=str(Path(os.environ["HOME"]) / f"store{next(self._stores)}"),
            llm_model_name="run",
            llm_base_url=bridge.BASE_URL,
            embedding_model_name="text-embedding-run",
            embedding_base_url=bridge.BASE_URL,
        )

    def write(self, event: dict[str, Any]) -> None:
        self._rag.index([event["text"]])
        self._rag.ready_to_retrieve = False
        self._events.setdefault(event["text"], []).append(event["id"])

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        if not self._events:  # an empty index can't be asked
            return []
        (found,) = self._rag.retrieve([query], num_to_retrieve=limit)
        return [
            {"text": text, "id": self._events[text], "score": float(score)}
            for text, score in zip(found.docs, found.doc_scores, strict=True)
        ]


if __name__ == "__main__":
    bridge.serve(Documents())
