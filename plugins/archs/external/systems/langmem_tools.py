"""LangMem's two tools over LangGraph's in-memory store, as its hot-path guide starts them.

An agent of LangMem decides itself what it remembers, and calls `manage_memory` with it. Here each
event is such a call, so no chat model is asked. The store's vectors are the run's embedder's; the
guide's are OpenAI's. The search tool's own limit (10) is what the search asks for instead.
"""

from __future__ import annotations

import json
from typing import Any

import pydantic.v1  # noqa: F401  # before the clock: it makes a kind of date of its own

import bridge  # isort: skip
from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool, create_search_memory_tool

NAMESPACE = ("memories",)


class LangMem:
    """A store of its own for each history."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        store = InMemoryStore(index={"dims": bridge.DIMENSION, "embed": bridge.embed})
        self._manage = create_manage_memory_tool(namespace=NAMESPACE, store=store)
        self._search = create_search_memory_tool(namespace=NAMESPACE, store=store)
        self._events: dict[str, str] = {}

    def write(self, event: dict[str, Any]) -> None:
        said = self._manage.invoke({"content": event["text"], "action": "create"})
        self._events[said.removeprefix("created memory ")] = event["id"]

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = json.loads(self._search.invoke({"query": query, "limit": limit}))
        return [
            {"text": one["value"]["content"], "id": self._events[one["key"]], "score": one["score"]}
            for one in found
        ]


if __name__ == "__main__":
    bridge.serve(LangMem())
