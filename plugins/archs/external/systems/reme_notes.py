"""ReMe: Markdown notes that an agent writes, searched by BM25, which is its default without a key.

Its own jobs `write` and `search` are asked. The loop that watches the folder, and waits five
seconds until it has settled, is left out; the step that the loop takes for a new note is taken when
the note is written instead. Its `auto_memory` and `dream` jobs, which ask a chat model to write
notes of a conversation, are left out too: each event is a note of its own.
"""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import bridge
from reme import ReMe
from reme.config import resolve_app_config


class Notes:
    """A workspace of its own for each history."""

    def __init__(self) -> None:
        self._workspaces, self._loop = itertools.count(), asyncio.new_event_loop()
        self.reset()

    def reset(self) -> None:
        self._folder = Path(f"workspace{next(self._workspaces)}").absolute()
        config = resolve_app_config(
            log_config=False,
            enable_logo=False,
            log_to_console=False,
            log_to_file=False,
            workspace_dir=str(self._folder),
        )
        jobs = config["jobs"]
        step = jobs["index_update_loop"]["steps"][-1]["dispatch_steps"][0]
        indexing = {"backend": "base", "steps": [step]}
        config["jobs"] = {"write": jobs["write"], "search": jobs["search"], "index": indexing}
        self._app = ReMe(**config)
        self._loop.run_until_complete(self._app.start())
        self._events: dict[str, str] = {}

    def _run(self, job: str, **arguments: Any) -> Any:
        response = self._loop.run_until_complete(self._app.run_job(job, **arguments))
        if not response.success:
            raise RuntimeError(response.answer)
        return response

    def write(self, event: dict[str, Any]) -> None:
        name = f"note{len(self._events)}"
        path = f"daily/{event.get('time', '')[:10] or 'undated'}/{name}.md"
        kind = event.get("kind", "note")
        self._run("write", path=path, name=name, description=kind, content=event["text"])
        self._run("index", changes=[{"path": str(self._folder / path), "change": "added"}])
        self._events[path] = event["id"]

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self._run("search", query=query, limit=limit).metadata["results"]
        return [
            {
                "text": one["text"],
                "id": self._events[one["path"]],
                "score": one["scores"]["score"],
            }
            for one in found
        ]


if __name__ == "__main__":
    bridge.serve(Notes())
