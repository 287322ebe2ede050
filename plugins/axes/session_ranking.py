"""Where the sessions that hold the gold evidence stand in what an arm recalled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from framework.retention import event_ranks, session_of
from plugins.axes._answers import HIGHER
from plugins.axes.ranking import recall


@register("axis", "session_ranking")
class Sessions(Axis[NoSettings]):
    """Recall of the sessions that contain the evidence, whatever unit is retrieved.

    An event's id is that of its session, or begins with it and a full stop. The ranking of events
    becomes one of sessions: each has the place of its first event.

    session_recall_at_2 : share of the sessions with evidence that are among the first 2 sessions.
    session_recall_at_5 : share of the sessions with evidence that are among the first 5 sessions.

    A case without evidence has no value (None); one for which the arm recalled nothing scores 0.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "session_recall_at_2": HIGHER,
        "session_recall_at_5": HIGHER,
    }
    needs: ClassVar[tuple[str, ...]] = ("sessions", "evidence")
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)

    def score(self, scored: Scored) -> AxisScore:
        gold = set(map(session_of, scored.case.gold.evidence))
        if not gold:
            return self.undefined()
        ranks = event_ranks(scored.view)
        order = list(dict.fromkeys(map(session_of, sorted(ranks, key=ranks.__getitem__))))
        places = [order.index(session) + 1 for session in gold if session in order]
        values = {f"session_recall_at_{k}": recall(places, len(gold), k) for k in (2, 5)}
        return AxisScore(values=values, evidence=())
