"""How the events that a question asks about are listed: by their words, names and days."""

from __future__ import annotations

from typing import Protocol

from framework.contracts import Profile, Rule
from framework.records import Event, MemoryView, TaskCard
from framework.registry import register
from plugins.models.rule_based.noise import is_missed
from plugins.models.rule_based.operators.scene import event_of, scene_of
from plugins.models.rule_based.sessions.matching import date_told
from plugins.models.rule_based.sessions.turns import Statement

_RELATIVE = frozenset({"relative"})


class Asked(Protocol):
    """What the rule reads of a request, whose operation stands in another group of plugins."""

    @property
    def task(self) -> TaskCard: ...

    @property
    def view(self) -> MemoryView: ...


@register("rule", "list_events")
class ListEventsRule(Rule[Asked, tuple[Event, ...]]):
    """Statements relevant to the question, one per event (same names and day: same event).

    It is no model's reading: which statements bear on it is told by shared words
    (`operators.scene`), and what makes them one is what `count_entities_across_sessions` goes by.
    """

    def answer(self, request: Asked, profile: Profile) -> tuple[Event, ...]:
        scene = scene_of(request.task, request.view)
        found: dict[tuple[object, ...], Event] = {}
        for match in scene.near:
            told = match.statement
            if is_missed(told.text, profile):
                continue
            day = date_told(told, _RELATIVE)
            event = Event(
                id=_place(told, request.view),
                text=told.text,
                time=day.isoformat() if day else "",
                kind="event",
            )
            found.setdefault(event_of(match, scene.question), event)
        return tuple(found.values())


def _place(told: Statement, view: MemoryView) -> str:
    """The item that holds a statement: the same words may stand in several sessions."""
    there = [item for item in view.items if told.text in item.text]
    of_its_session = (item.id for item in there if told.stamp in item.text)
    return next(of_its_session, there[0].id if there else "")
