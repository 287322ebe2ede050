"""Counts the events that the model lists from the view, by their words (after Regimes 8.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from framework.contracts import Client, Operator
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import register
from plugins.operators.list_events import ListEvents, ListEventsRequest, placed

_COUNTS: Final = re.compile(r"\bhow many\b|\bhow often\b|\bnumber of\b", re.IGNORECASE)
_ELAPSED: Final = re.compile(
    r"\bhow (?:many (?:days|weeks|months|years)|long ago)\b", re.IGNORECASE
)
_LIST: Final = ListEvents()


@dataclass(frozen=True, slots=True, kw_only=True)
class CountListedEventsSettings:
    """It has none; what it asks the model with is part of what it is."""

    def identity(self) -> Mapping[str, str]:
        """The prompts of its operation, by their digest."""
        return {_LIST.name: _LIST.files.digest}


@register("operator", "count_listed_events")
class CountListedEvents(Operator[CountListedEventsSettings]):
    """The number of events that the model lists and the view holds word for word.

    Detector: the question has counting intent, not for a span of time. The model is asked for the
    events (`list_events`), never for their number. A quote that is not in the view counts nothing;
    where none is, the reader's answer stays. How many were listed and how many of the quotes were
    in no memory stands among the answer's provisions (`count_listed_events:listed=N`, `unsupported`
    alike; axis `listed_events`). With a rule-based model the list is the rule's.
    """

    operation: ClassVar[str] = "answer_from_sessions"

    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        return bool(_COUNTS.search(task.query)) and not _ELAPSED.search(task.query)

    async def act(self, task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        events = await client.ask(_LIST, ListEventsRequest(task=task, view=view))
        counted, unsupported = placed(events, view)
        tallies = (
            f"{self.name}:listed={len(events)}",
            f"{self.name}:unsupported={unsupported}",
        )
        marked = replace(answer, provisions=(*answer.provisions, *tallies))
        if not counted:
            return marked
        evidence = " ".join(f"{e.time}: {e.text}" if e.time else e.text for e in counted)
        return replace(
            marked, decision="", text=str(len(counted)), rationale=evidence, confidence=None
        )
