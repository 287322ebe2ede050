"""Gives the supporting sentence where the answer is uncertain (Regimes 8.3)."""

from __future__ import annotations

from typing import ClassVar

from framework.contracts import Client, Operator
from framework.records import ABSTAIN, Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register
from plugins.models.rule_based.operators.scene import COUNTS, OPERATION, in_place_of, scene_of
from plugins.models.rule_based.sessions.recollect import Recollection
from plugins.models.rule_based.sessions.spans import span_of

_LOW = 0.5


@register("operator", "fallback_to_raw_span")
class FallbackToRawSpan(Operator[NoSettings]):
    """The sentence that bears on the question most, in place of what was made of it.

    Detector: the reader committed, the question counts nothing, and its confidence is below one
    half; or, where it tells none, two statements bear on the question alike and give different
    values.
    """

    operation: ClassVar[str] = OPERATION

    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        if answer.decision == ABSTAIN or COUNTS.search(task.query):
            return False
        near = scene_of(task, view).near
        if not near:
            return False
        if answer.confidence is not None:
            return answer.confidence < _LOW
        best = max(match.share for match in near)
        similar = [match.statement.text for match in near if match.share == best]
        return len({span_of(task.query, text) for text in similar}) > 1

    def act(self, task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        best = max(scene_of(task, view).near, key=lambda match: match.share)
        text = best.statement.text
        return in_place_of(answer, Recollection(answer=text, evidence=(text,)))
