"""Counts distinct events over sessions where they are to be counted (Regimes 8.3)."""

from __future__ import annotations

import re
from typing import ClassVar, Final

from framework.contracts import Client, Operator
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register
from plugins.models.rule_based.operators.scene import (
    COUNTS,
    ELAPSED,
    OPERATION,
    Scene,
    event_of,
    in_place_of,
    scene_of,
)
from plugins.models.rule_based.sessions.recollect import Recollection

_NOUN: Final = re.compile(r"\bhow many ([\w'-]+)", re.IGNORECASE)


@register("operator", "count_entities_across_sessions")
class CountEntitiesAcrossSessions(Operator[NoSettings]):
    """The number of distinct events, by name and day: what is told again counts once.

    Detector: the question has counting intent, not for a span of time; what bears on it are at
    least two distinct events in different sessions; and no statement tells their number.
    """

    operation: ClassVar[str] = OPERATION

    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        if not COUNTS.search(task.query) or ELAPSED.search(task.query):
            return False
        scene = scene_of(task, view)
        sessions = {match.statement.stamp for match in scene.near}
        return len(sessions) > 1 and len(_events(scene)) > 1 and not _told(scene)

    def act(self, task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        events = _events(scene_of(task, view))
        found = Recollection(answer=str(len(events)), evidence=tuple(events.values()))
        return in_place_of(answer, found)


def _events(scene: Scene) -> dict[tuple[object, ...], str]:
    found: dict[tuple[object, ...], str] = {}
    for match in scene.near:
        found.setdefault(event_of(match, scene.question), match.statement.text)
    return found


def _told(scene: Scene) -> bool:
    """Whether a statement tells a number of what is counted."""
    noun = _NOUN.search(scene.question.text)
    if noun is None:
        return False
    told = re.compile(rf"\b\d+ {re.escape(noun[1][:4])}", re.IGNORECASE)
    return any(told.search(match.statement.text) for match in scene.found.topical)
