"""txtai's embeddings database, its content kept: `upsert` for an event, a query by `similar`.

Deviations from its defaults: the vectors are the run's embedder's, by its own way for vectors of
others (`method: external`; the default downloads a model); its content is kept (`content: true`),
so that a search has texts. A query is a parameter of its SQL, since a text that begins with
"select" would be taken for SQL itself.
"""

from __future__ import annotations

from typing import Any

import bridge

# isort: split
import numpy as np
from txtai import Embeddings

SQL = "select id, text, score from txtai where similar(:query)"


def embed(texts: list[str]) -> Any:
    """The run's vectors."""
    return np.array(bridge.embed(list(texts)), dtype=np.float32)


class Database:
    """An index of its own, in memory, for each history."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._embeddings = Embeddings(method="external", transform=embed, content=True)

    def write(self, event: dict[str, Any]) -> None:
        self._embeddings.upsert([(event["id"], event["text"], None)])

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self._embeddings.search(SQL, limit, parameters={"query": query})
        return [{"text": one["text"], "id": one["id"], "score": one["score"]} for one in found]

    def forget(self, event: dict[str, Any]) -> None:
        self._embeddings.delete([event["id"]])


if __name__ == "__main__":
    bridge.serve(Database())
