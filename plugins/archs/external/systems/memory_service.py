"""mcp-memory-service: the service behind its MCP tools, over its SQLite store.

Its tools answer in prose, so the service that they call is asked. A text that it takes for a
duplicate, by words or by nearness, is refused: it stays out, as for a user of its tools.

Deviations from its defaults: the vectors are the run's embedder's, through its own setting for
endpoints of others (the default downloads a model). Where Python's own sqlite3 can't load
extensions, which its store needs, pysqlite3's is used in its place.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import sys
from typing import Any

import bridge
import sockets  # noqa: F401  # its client is requests

if not hasattr(sqlite3.Connection, "enable_load_extension"):
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3
os.environ["MCP_EXTERNAL_EMBEDDING_URL"] = f"{bridge.BASE_URL}/embeddings"
os.environ["MCP_EXTERNAL_EMBEDDING_MODEL"] = "embedder"

from mcp_memory_service.services.memory_service import MemoryService
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage

REFUSED = "Duplicate content detected"


class Service:
    """A database of its own for each history."""

    def __init__(self) -> None:
        self._stores, self._loop = itertools.count(), asyncio.new_event_loop()
        self.reset()

    def reset(self) -> None:
        storage = SqliteVecMemoryStorage(f"{next(self._stores)}.db")
        self._loop.run_until_complete(storage.initialize())
        self._service = MemoryService(storage)

    def write(self, event: dict[str, Any]) -> None:
        storing = self._service.store_memory(content=event["text"], metadata={"event": event["id"]})
        done = self._loop.run_until_complete(storing)
        if not done.get("success") and REFUSED not in str(done.get("error")):
            raise RuntimeError(done.get("error"))

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        asking = self._service.retrieve_memories(query=query, n_results=limit)
        found = self._loop.run_until_complete(asking)
        if "error" in found:
            raise RuntimeError(found["error"])
        return [
            {
                "text": one["content"],
                "id": one["metadata"]["event"],
                "score": one["similarity_score"],
            }
            for one in found["memories"]
        ]


if __name__ == "__main__":
    bridge.serve(Service())
