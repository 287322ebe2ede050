"""The memory service that Google's Agent Development Kit starts with: words in common, no model.

It has no limit: it returns ten memories at most, those that share most words with the query.
"""

from __future__ import annotations

import asyncio
from typing import Any

import bridge
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.genai.types import Content, Part

WHOSE = {"app_name": "app", "user_id": "user"}


class Adk:
    """A service of its own for each history."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._service = InMemoryMemoryService()

    def write(self, event: dict[str, Any]) -> None:
        content = Content(role="user", parts=[Part(text=event["text"])])
        said = Event(id=event["id"], author=event.get("speaker") or "user", content=content)
        asyncio.run(
            self._service.add_events_to_memory(
                **WHOSE, events=[said], session_id=event.get("session")
            )
        )

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = asyncio.run(self._service.search_memory(**WHOSE, query=query)).memories
        return [
            {"text": "".join(part.text or "" for part in one.content.parts), "id": one.id}
            for one in found[:limit]
        ]


if __name__ == "__main__":
    bridge.serve(Adk())
