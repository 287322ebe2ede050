"""What a drawn question really needs of the sessions, and how each kind is drawn.

A structure is finer than the benchmark's question type, and not always of one mind with it: a
question labelled `knowledge-update` may need a count (Regimes 5.9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from plugins.domains.longmemeval import amounts, attributes, happenings
from plugins.domains.longmemeval.asked import Asked
from plugins.domains.longmemeval.scene import Scene

ABSENCES: Final = ("absent", "misleading")
"""Why a question has no answer: nothing on it is said; something like it is said of another."""
ATTRIBUTE_ABSENCES: Final = (*ABSENCES, "stale", "contradictory")
"""And of an attribute: what was said holds no more; two values are said on one day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A kind of question. `draw` fills a scene; its second argument is the absence, empty for none.

    share : of questions by default; the types come out as in the benchmark.
    """

    type: str
    share: float
    absences: tuple[str, ...]
    draw: Callable[[Scene, str], Asked]


_USER, _ASSISTANT = "single-session-user", "single-session-assistant"
_MULTI, _UPDATE, _TIME = "multi-session", "knowledge-update", "temporal-reasoning"


def _structure(
    type_: str,
    share: float,
    draw: Callable[[Scene, str], Asked],
    absences: tuple[str, ...] = ABSENCES,
) -> Structure:
    return Structure(type=type_, share=share, absences=absences, draw=draw)


LACKING: Final = "plan"
"""What is told beside a question of a structure that has no absences."""

STRUCTURES: Final = {
    "fact": _structure(_USER, 0.06, attributes.fact, ATTRIBUTE_ABSENCES),
    "price": _structure(_USER, 0.03, amounts.price),
    "plan": _structure(_USER, 0.03, happenings.plan),
    "other": _structure(_USER, 0.03, attributes.other, ("misleading",)),
    "assistant": _structure(_ASSISTANT, 0.11, attributes.assistant),
    "preference": _structure("single-session-preference", 0.06, amounts.preference, ()),
    "count": _structure(_MULTI, 0.09, happenings.count),
    "times": _structure(_MULTI, 0.05, happenings.times),
    "total": _structure(_MULTI, 0.07, amounts.total),
    "list": _structure(_MULTI, 0.05, happenings.listed),
    "update": _structure(_UPDATE, 0.07, attributes.update, ATTRIBUTE_ABSENCES),
    "original": _structure(_UPDATE, 0.03, attributes.original, ATTRIBUTE_ABSENCES[:2]),
    "running": _structure(_UPDATE, 0.03, amounts.running),
    "worn": _structure(_UPDATE, 0.03, amounts.worn),
    "ago": _structure(_TIME, 0.07, happenings.ago),
    "between": _structure(_TIME, 0.05, happenings.between),
    "when": _structure(_TIME, 0.05, happenings.when),
    "window": _structure(_TIME, 0.04, happenings.window),
    "order": _structure(_TIME, 0.05, happenings.order),
}
"""By name. The shares of the six types are near those of the benchmark's 500 questions."""
