"""Project a whole event log to a view for one task (LongHorizon 5, DPM)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._card import card_text
from framework.operations._filling import pick
from framework.operations._lexical import lines_of
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.noise import mishap
from framework.operations.reading.text import statements
from framework.records import TaskCard
from framework.registry import register

__all__ = ["Project", "ProjectRequest", "ProjectResponse"]


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
    """Project the whole log to a task-conditioned view, at temperature 0 and without state.

    The rule-based answer is lexical and task-conditioned. It ranks sentences by signals per token:
    typed values, words of the card's fields and query, wording of policies, of comparisons and of
    corrections, and how late a sentence is among those on the same field (`_lexical.lines_of`). It
    fills the limit by that rank and prints in order of arrival, verbatim, dated where a correction
    matters. It parses no rule, resolves no figure, judges no instruction, and leaves nothing out
    but repetition and what does not fit. A noisy profile makes it miss sentences, drawn apart from
    those that the reader misses; the rest of the profile does not bear on it.
    """

    slots = frozenset({"task", "query", "log", "limit"})
    shared = frozenset({"task", "query", "log"})

    def fill(self, request: ProjectRequest) -> Mapping[str, str]:
        return {
            "task": card_text(request.task),
            "query": request.task.query,
            "log": "\n\n".join(request.events),
            "limit": str(request.limit_tokens),
        }

    def parse(self, text: str, request: ProjectRequest) -> ProjectResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("view",))
        return ProjectResponse(view=_json.text(data, "view"))

    def offline(self, request: ProjectRequest, profile: Profile) -> ProjectResponse:
        found = [s for text in request.events for s in statements(text)]
        told = [s for s in found if mishap(f"{self.name}: {s.text}", profile) != "miss"]
        lines = lines_of(told, request.task.fields, request.task.query)
        ranked = [((-line.density,), line.text) for line in lines]
        return ProjectResponse(view="\n".join(pick(ranked, request.limit_tokens)))
