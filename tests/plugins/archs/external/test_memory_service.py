"""mcp-memory-service's driver: what it refuses as a duplicate stays out; an error is one."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugins.archs.external.systems import driver

REFUSAL = "Duplicate content detected (semantically similar to 3722f0d4)"


class FakeService:
    """Answers as the service does, in the shapes of its 12.2.0."""

    def __init__(self, storage: Any) -> None:
        self.kept: list[dict[str, Any]] = []

    async def store_memory(self, *, content: str, metadata: dict[str, Any]) -> dict[str, Any]:
        if "broken" in content:
            return {"success": False, "error": "database is locked"}
        if any(one["content"] == content for one in self.kept):
            return {"success": False, "error": REFUSAL}
        self.kept.append({"content": content, "metadata": metadata, "similarity_score": 0.5})
        return {"success": True, "memory": {"content_hash": "3722f0d4"}}

    async def retrieve_memories(self, *, query: str, n_results: int) -> dict[str, Any]:
        if not query:
            return {"memories": [], "error": "Failed to retrieve memories"}
        return {"memories": self.kept[:n_results]}


class FakeStorage:
    def __init__(self, path: str) -> None: ...

    async def initialize(self) -> None: ...


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The driver's memory, over the fake service."""
    monkeypatch.setitem(sys.modules, "sqlite3", sqlite3)  # the driver may change it
    for name in ("MCP_EXTERNAL_EMBEDDING_URL", "MCP_EXTERNAL_EMBEDDING_MODEL"):
        monkeypatch.setenv(name, "")
    modules: dict[str, dict[str, Any]] = {
        "bridge": {"BASE_URL": "http://decisionbench/v1"},
        "sockets": {},
        "pysqlite3": {},
        "mcp_memory_service": {},
        "mcp_memory_service.services": {},
        "mcp_memory_service.services.memory_service": {"MemoryService": FakeService},
        "mcp_memory_service.storage": {},
        "mcp_memory_service.storage.sqlite_vec": {"SqliteVecMemoryStorage": FakeStorage},
    }
    memory = driver(monkeypatch, "memory_service.py", modules).Service()
    yield memory
    memory._loop.close()


def test_a_refused_duplicate_stays_out_and_another_failure_is_one(service: Any) -> None:
    for n in range(2):
        service.write({"id": f"e{n}", "text": "The gate code is 17."})
    assert service.retrieve("gate code", 5) == [
        {"text": "The gate code is 17.", "id": "e0", "score": 0.5}
    ]
    with pytest.raises(RuntimeError, match="database is locked"):
        service.write({"id": "e2", "text": "broken"})
    with pytest.raises(RuntimeError, match="Failed to retrieve"):
        service.retrieve("", 5)


def test_a_reset_leaves_nothing(service: Any) -> None:
    service.write({"id": "e0", "text": "The gate code is 17."})
    service.reset()
    assert service.retrieve("gate code", 5) == []
