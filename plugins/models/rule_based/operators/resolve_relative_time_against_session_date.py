"""Computes dates from the day of the session where a date is asked for (Regimes 8.3)."""

from __future__ import annotations

from typing import ClassVar

from framework.contracts import Client, Operator
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register
from plugins.models.rule_based.operators.scene import ELAPSED, OPERATION, in_place_of, scene_of
from plugins.models.rule_based.sessions.spans import WHEN
from plugins.models.rule_based.sessions.when import phrase


@register("operator", "resolve_relative_time_against_session_date")
class ResolveRelativeTimeAgainstSessionDate(Operator[NoSettings]):
    """The date of an event, or the time since it or between two, from the days of the sessions.

    Detector: the question asks when, or for a span of time in days, weeks, months or years, and the
    statement that bears on it most tells a day. A question that only mentions time, as which bike
    was serviced last weekend, is left alone: nothing is computed that is not asked for.
    """

    operation: ClassVar[str] = OPERATION

    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        if not (ELAPSED.search(task.query) or WHEN.search(task.query)):
            return False
        near = scene_of(task, view).near
        best = max(near, key=lambda match: match.share, default=None)
        return best is not None and bool(phrase(best.statement.text))

    def act(self, task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        clauses = ["relative", "arithmetic"] if ELAPSED.search(task.query) else ["relative"]
        found = scene_of(task, view).answered(*clauses)
        return answer if found.abstains else in_place_of(answer, found)
