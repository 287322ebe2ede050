"""cognee: `add` and `cognify` for an event; for a query what its search lays before a model.

    python cognee_driver.py

Defaults of the product, but for what its mapping declares (the run's model and embedder, by its own
settings for servers that speak OpenAI's protocol; no telemetry; no separate databases for its
users), and a tokenizer that its packages hold, since others are downloaded: it only measures
lengths. Results are, in its order, passages, entities with their relations, and related facts, as
its default search finds them (10 of each at most). A passage names its event; the rest is traced by
its words.
"""

from __future__ import annotations

# Before the clock is set: under another datetime its import does not end.
import pandas  # noqa: F401, TID253

# isort: split
import asyncio
import os
import sysconfig
import uuid
from pathlib import Path
from typing import Any

import bridge

os.environ["EMBEDDING_DIMENSIONS"] = str(bridge.DIMENSION)
os.environ["TIKTOKEN_CACHE_DIR"] = str(
    Path(sysconfig.get_path("purelib"), "litellm/litellm_core_utils/tokenizers")
)

import cognee
from cognee import SearchType
from cognee.tasks.ingestion.data_item import DataItem


def entity(found: dict[str, Any]) -> str:
    """An entity as the product shows it: its name, type and relations."""
    named = f"{found['name']} ({found['type']})" if found.get("type") else str(found["name"])
    return "\n- ".join([named, *(edge["text"] for edge in found["edges"])])


class Graph:
    """One graph, emptied by a reset."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._events: dict[str, str] = {}

    def write(self, event: dict[str, Any]) -> None:
        name = uuid.uuid5(uuid.NAMESPACE_URL, event["id"])
        self._events[str(name)] = event["id"]
        self._loop.run_until_complete(self._written(event["text"], name))

    async def _written(self, text: str, name: uuid.UUID) -> None:
        await cognee.add(DataItem(data=text, data_id=name, literal_text=True))
        await cognee.cognify()

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        if not self._events:  # it has no database yet to search in
            return []
        asking = cognee.search(
            query,
            query_type=SearchType.HYBRID_COMPLETION,
            top_k=limit,
            only_context=True,
            verbose=True,
        )
        results: list[dict[str, Any]] = []
        for dataset in self._loop.run_until_complete(asking):
            found = dataset["objects_result"]
            for chunk in found["chunks"]:
                name = self._events.get(str(chunk.payload["document_id"]))
                results.append({"text": chunk.payload["text"], **({"id": name} if name else {})})
            results += [{"text": entity(one)} for one in found["entities"]]
            results += [{"text": one["text"]} for one in found["facts"]]
        return results[:limit]

    def reset(self) -> None:
        self._events = {}
        self._loop.run_until_complete(self._emptied())

    async def _emptied(self) -> None:
        await cognee.prune.prune_data()
        await cognee.prune.prune_system(metadata=True)


if __name__ == "__main__":
    bridge.serve(Graph())
