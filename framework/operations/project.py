"""Project a whole event log to a view for one task (LongHorizon 5, DPM)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.operations._card import card_text
from framework.operations._json import longest_text
from framework.operations.prompted import PromptedOperation
from framework.records import TaskCard
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRequest:
    """The task card, the texts of all events in order of arrival, and the limit in tokens."""

    task: TaskCard
    events: tuple[str, ...]
    limit_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectResponse:
    """The view: what of the log bears on the task."""

    view: str


@register("operation", "project")
class Project(PromptedOperation[ProjectRequest, ProjectResponse]):
    """Project the whole log to a view for the task, at temperature 0 and without state."""

    response = ProjectResponse
    slots = frozenset({"task", "query", "log", "limit"})
    shared = frozenset({"task", "query", "log"})

    def fill(self, request: ProjectRequest) -> Mapping[str, str]:
        return {
            "task": card_text(request.task),
            "query": request.task.query,
            "log": "\n\n".join(request.events),
            "limit": str(request.limit_tokens),
        }

    def schema(self, request: ProjectRequest) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        schema["properties"]["view"]["maxLength"] = longest_text(request.limit_tokens)
        return dict(schema)
