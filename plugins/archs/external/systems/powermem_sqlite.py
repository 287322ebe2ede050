"""PowerMem with its SQLite store: vectors and full text, fused by rank.

Deviations from its defaults: `infer=False`, which is its own mode for texts that are kept as they
are (the default asks a chat model for facts and merges them); no language model (`noop`); the
vectors are the run's embedder's, whose length is told; SQLite, not OceanBase's embedded store.
"""

from __future__ import annotations

import itertools
from typing import Any

import bridge
from powermem import Memory

USER = "user"


class PowerMem:
    """A database of its own for each history."""

    def __init__(self) -> None:
        self._stores = itertools.count()
        self.reset()

    def reset(self) -> None:
        embedder = {
            "model": "embedder",
            "api_key": "none",
            "openai_base_url": bridge.BASE_URL,
            "embedding_dims": bridge.DIMENSION,
            "pass_dimensions": False,  # a parameter of OpenAI's models alone
        }
        store = {"database_path": f"{next(self._stores)}.db", "collection_name": "memories"}
        self._memory = Memory(
            config={
                "llm": {"provider": "noop", "config": {}},
                "embedder": {"provider": "openai", "config": embedder},
                "vector_store": {"provider": "sqlite", "config": store},
            }
        )

    def write(self, event: dict[str, Any]) -> None:
        self._memory.add(event["text"], user_id=USER, infer=False, metadata={"event": event["id"]})

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self._memory.search(query, user_id=USER, limit=limit)["results"]
        return [
            {"text": one["memory"], "id": one["metadata"]["event"], "score": one["score"]}
            for one in found
        ]


if __name__ == "__main__":
    bridge.serve(PowerMem())
