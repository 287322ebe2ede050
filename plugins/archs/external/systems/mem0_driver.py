"""mem0ai, 1.x and 2.x, by its own `Memory`: `add` for an event, `search` for a query.

    python mem0_driver.py [--raw]

Defaults of the product, but for where it keeps things and which models it asks:
- vectors in faiss by cosine, with the embedder's length, since its default store (Qdrant) keeps a
  lock after it was closed, and its default length is that of OpenAI's embeddings;
- as many results as are asked for, in place of 20 (2.x) and 100 (1.x);
- `--raw`: `infer=False`, so that texts are stored as they are and no language model is asked.
An event's id is given as metadata, which the product returns with what it made of the event.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import bridge

# isort: split
import mem0
from mem0 import Memory

RAW = "--raw" in sys.argv
USER = "user"
FIRST = mem0.__version__.startswith("1.")


class Mem0:
    """One user's memory."""

    def __init__(self) -> None:
        self.made: dict[str, list[str]] = {}
        store = {
            "collection_name": "memories",
            "path": str(Path(os.environ["HOME"]) / "faiss"),
            "distance_strategy": "cosine",
            "embedding_model_dims": bridge.DIMENSION,
        }
        self.memory = Memory.from_config({"vector_store": {"provider": "faiss", "config": store}})

    def write(self, event: dict[str, Any]) -> None:
        role = "assistant" if event.get("speaker") == "assistant" else "user"
        message = {"role": role, "content": event["text"]}
        made = {"event": event["id"]}
        added = self.memory.add([message], user_id=USER, metadata=made, infer=not RAW)
        new = [one["id"] for one in added["results"] if one["event"] == "ADD"]
        self.made.setdefault(event["id"], []).extend(new)

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        if FIRST:
            found = self.memory.search(query, user_id=USER, limit=limit)
        else:
            found = self.memory.search(query, filters={"user_id": USER}, top_k=limit)
        return [
            {
                "text": one["memory"],
                "id": (one.get("metadata") or {}).get("event"),
                "score": one.get("score"),
            }
            for one in found["results"]
        ]

    def forget(self, event: dict[str, Any]) -> None:
        """Delete the memories that the event added, as a user of the product can."""
        for name in self.made.pop(event["id"], []):
            self.memory.delete(name)

    def reset(self) -> None:
        self.memory.reset()


if __name__ == "__main__":
    bridge.serve(Mem0())
