"""graphiti-core over Kuzu in memory: `add_episode` for an event, `search` for a query.

    python graphiti_driver.py

Defaults of the product, but for:
- Kuzu, since its other stores are servers; the driver's missing `_database` is set, and its
  full-text indexes, which the product does not make for it, are made;
- its client for servers that speak OpenAI's protocol, which asks for answers in a JSON schema;
- as many results as are asked for, in place of 10.
Results are facts between two entities; the events behind a fact are its episodes.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import bridge

# isort: split
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.driver import GraphProvider
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.graph_queries import get_fulltext_indices
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EpisodeType

NOBODY = "none"


class AsFound(CrossEncoderClient):
    """Reranks nothing: the product's `search` does not ask for it."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """The passages in their order."""
        return [(passage, 1.0 / n) for n, passage in enumerate(passages, start=1)]


class Facts:
    """One graph, in memory."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.reset()

    def write(self, event: dict[str, Any]) -> None:
        try:
            when = datetime.fromisoformat(event.get("time", ""))
        except ValueError:
            when = datetime.now()
        spoken = event.get("speaker") is not None
        added = self.loop.run_until_complete(
            self.graph.add_episode(
                name=event["id"],
                episode_body=event["text"],
                source_description=event.get("kind") or "record",
                reference_time=when if when.tzinfo else when.replace(tzinfo=UTC),
                source=EpisodeType.message if spoken else EpisodeType.text,
            )
        )
        self.events[added.episode.uuid] = event["id"]

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self.loop.run_until_complete(self.graph.search(query, num_results=limit))
        return [
            {"text": edge.fact, "id": [self.events[e] for e in edge.episodes if e in self.events]}
            for edge in found
        ]

    def reset(self) -> None:
        self.events: dict[str, str] = {}
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        driver = KuzuDriver()
        driver._database = ""
        model = LLMConfig(api_key=NOBODY, base_url=bridge.BASE_URL, model="run", small_model="run")
        vectors = OpenAIEmbedderConfig(
            api_key=NOBODY, base_url=bridge.BASE_URL, embedding_dim=bridge.DIMENSION
        )
        self.graph = Graphiti(
            graph_driver=driver,
            llm_client=OpenAIGenericClient(config=model),
            embedder=OpenAIEmbedder(config=vectors),
            cross_encoder=AsFound(),
        )
        for query in get_fulltext_indices(GraphProvider.KUZU):
            await driver.execute_query(query)


if __name__ == "__main__":
    bridge.serve(Facts())
