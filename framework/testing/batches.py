"""The model server's batches: both providers' protocols for many requests at half the price.

A batch ends so long after it came; what it holds is answered, and counted, when it comes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from framework.testing.wire import error

Serve = Callable[[str, bytes], tuple[int, dict[str, Any]]]
"""(path, body) of one request to status and body of its answer."""

_MESSAGES: Final = "/v1/messages/batches"


@dataclass(slots=True)
class _Batch:
    id: str
    created: float
    ends: float
    answers: list[tuple[str, int, dict[str, Any]]]
    metadata: dict[str, Any] = field(default_factory=dict)


class BatchDesk:
    """Takes batches and gives their results.

    serve : answers one request. ends_after_s : may be changed while batches are under way, for
    those that come later. submitted : how many came.
    """

    def __init__(self, serve: Serve, ends_after_s: float = 0.2) -> None:
        self.ends_after_s = ends_after_s
        self.submitted = 0
        self._serve = serve
        self._batches: dict[str, _Batch] = {}
        self._files: dict[str, bytes] = {}

    def reply(self, url: str, path: str, data: bytes) -> tuple[int, Any] | None:
        """Status and body (JSON, or bytes as they are); None for a path that is none of these.

        url : of this server, for addresses in answers. data : empty for what is asked by GET.
        """
        path = path.partition("?")[0]
        if path.startswith(_MESSAGES):
            return self._messages(url, path.removeprefix(_MESSAGES).strip("/"), data)
        if path.startswith("/v1/files"):
            return self._file(path.removeprefix("/v1/files").strip("/"), data)
        if path.startswith("/v1/batches"):
            return self._completions(path.removeprefix("/v1/batches").strip("/"), data)
        return None

    def _messages(self, url: str, rest: str, data: bytes) -> tuple[int, Any]:
        if data:
            asked = [
                (entry["custom_id"], json.dumps(entry["params"]).encode())
                for entry in json.loads(data)["requests"]
            ]
            return 200, self._message_batch(url, self._taken("/v1/messages", asked))
        if not rest:
            made = [self._message_batch(url, batch) for batch in reversed(self._batches.values())]
            return 200, {"data": made, "has_more": False, "first_id": None, "last_id": None}
        name, _, results = rest.partition("/")
        batch = self._batches.get(name)
        if batch is None:
            return 404, error("not_found_error", name)
        if not results:
            return 200, self._message_batch(url, batch)
        lines = [
            {"custom_id": key, "result": {"type": "succeeded", "message": body}}
            if status == 200
            else {"custom_id": key, "result": {"type": "errored", "error": body}}
            for key, status, body in batch.answers
        ]
        return 200, _lines(lines)

    def _message_batch(self, url: str, batch: _Batch) -> dict[str, Any]:
        ended = time.time() >= batch.ends
        n = len(batch.answers)
        counts = {"processing": 0 if ended else n, "succeeded": n if ended else 0}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat(),
            "expires_at": datetime.fromtimestamp(batch.created + 86400, UTC).isoformat(),
            "results_url": f"{url}{_MESSAGES}/{batch.id}/results" if ended else None,
        }

    def _file(self, rest: str, data: bytes) -> tuple[int, Any]:
        if data:
            name = f"file-{len(self._files)}"
            self._files[name] = _uploaded(data)
            return 200, {"id": name, "object": "file", "purpose": "batch"}
        content = self._files.get(rest.partition("/")[0])
        return (404, error("not_found_error", rest)) if content is None else (200, content)

    def _completions(self, rest: str, data: bytes) -> tuple[int, Any]:
        if data:
            given = json.loads(data)
            entries = [json.loads(one) for one in self._files[given["input_file_id"]].splitlines()]
            asked = [(e["custom_id"], json.dumps(e["body"]).encode()) for e in entries]
            batch = self._taken(given["endpoint"], asked, given.get("metadata") or {})
            return 200, self._completion_batch(batch)
        if not rest:
            made = [self._completion_batch(batch) for batch in reversed(self._batches.values())]
            return 200, {"object": "list", "data": made, "has_more": False}
        found = self._batches.get(rest)
        if found is None:
            return 404, error("not_found_error", rest)
        return 200, self._completion_batch(found)

    def _completion_batch(self, batch: _Batch) -> dict[str, Any]:
        ended = time.time() >= batch.ends
        if ended:
            for right in (True, False):
                self._files[f"{batch.id}-{'output' if right else 'error'}"] = _lines(
                    {"custom_id": key, "response": {"status_code": status, "body": body}}
                    for key, status, body in batch.answers
                    if (status == 200) is right
                )
        return {
            "id": batch.id,
            "object": "batch",
            "status": "completed" if ended else "in_progress",
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "output_file_id": f"{batch.id}-output" if ended else None,
            "error_file_id": f"{batch.id}-error" if ended else None,
        }

    def _taken(
        self, path: str, asked: list[tuple[str, bytes]], metadata: dict[str, Any] | None = None
    ) -> _Batch:
        answers = [(key, *self._serve(path, body)) for key, body in asked]
        now = time.time()
        self.submitted += 1
        batch = _Batch(
            f"batch_{self.submitted}", now, now + self.ends_after_s, answers, metadata or {}
        )
        self._batches[batch.id] = batch
        return batch


def _lines(entries: Any) -> bytes:
    return "\n".join(map(json.dumps, entries)).encode()


def _uploaded(data: bytes) -> bytes:
    """The file in a form of several parts."""
    boundary = data.split(b"\r\n", 1)[0]
    (part,) = (part for part in data.split(boundary) if b"filename=" in part)
    return part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
