"""Answers with the latest value where one attribute has had several (Regimes 8.3)."""

from __future__ import annotations

import re
from typing import ClassVar, Final

from framework.contracts import Client, Operator
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register
from plugins.models.rule_based.operators.scene import (
    ELAPSED,
    OPERATION,
    Scene,
    in_place_of,
    scene_of,
)
from plugins.models.rule_based.sessions.matching import Match
from plugins.models.rule_based.sessions.recollect import Recollection
from plugins.models.rule_based.sessions.spans import span_of
from plugins.models.rule_based.sessions.when import phrase

_BEGINNING: Final = re.compile(
    r"\b(?:originally|first|initially|to begin with|used to|previously|before)\b", re.IGNORECASE
)


@register("operator", "select_current_fact_under_supersession")
class SelectCurrentFactUnderSupersession(Operator[NoSettings]):
    """The value that was stated last, where the same thing was stated with different values.

    Detector: at least two statements that bear on the question are of different dated sessions,
    tell no day of their own (so that they are states and not events), and give different values;
    and the question asks neither for what was at first nor for a span of time.
    """

    operation: ClassVar[str] = OPERATION

    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        if _BEGINNING.search(task.query) or ELAPSED.search(task.query):
            return False
        scene = scene_of(task, view)
        states = _states(scene)
        values = {span_of(task.query, match.statement.text) for match in states}
        return len({match.on for match in states}) > 1 and len(values) > 1

    def act(self, task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        latest = max(_states(scene_of(task, view)), key=lambda match: str(match.on))
        text = latest.statement.text
        found = Recollection(answer=span_of(task.query, text), evidence=(text,))
        return in_place_of(answer, found)


def _states(scene: Scene) -> list[Match]:
    return [
        match for match in scene.near if match.on is not None and not phrase(match.statement.text)
    ]
