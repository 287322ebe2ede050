"""What a model listed to be counted, and what of it stands in the view."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from plugins.axes._answers import LOWER

_TALLY: Final = re.compile(r"count_listed_events:(?P<what>listed|unsupported)=(?P<n>\d+)")
NAMES: Final = ("events_listed", "events_unsupported")


@register("axis", "listed_events")
class ListedEvents(Axis[NoSettings]):
    """How many events `count_listed_events` was given, and how many are unsupported.

    events_listed : number of events that the model listed. No better direction.
    events_unsupported : number of listed events whose quote is in no memory of the view, and which
        were not counted. Lower is better.

    None of both where the operator did not act.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "events_listed": None,
        "events_unsupported": LOWER,
    }

    def score(self, scored: Scored) -> AxisScore:
        if scored.answer is None:
            return self.undefined()
        values: dict[str, float | None] = dict.fromkeys(NAMES)
        for provision in scored.answer.provisions:
            if found := _TALLY.fullmatch(provision):
                name = f"events_{found['what']}"
                values[name] = (values[name] or 0.0) + float(found["n"])
        return AxisScore(values=values)
