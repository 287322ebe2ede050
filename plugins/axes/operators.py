"""Where guarded operators fire, and where they fire wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from framework.contracts import Axis, Scored
from framework.contracts.operator import ACTED
from framework.records import AxisScore
from framework.registry import NoSettings, register
from plugins.axes._answers import LOWER

OPERATORS: Final = (
    "count_entities_across_sessions",
    "select_current_fact_under_supersession",
    "verify_evidence_absence_before_abstention",
    "resolve_relative_time_against_session_date",
    "fallback_to_raw_span",
)
NAMES = (
    "fired",
    "fired_wrong",
    *(f"{what}_{name}" for name in OPERATORS for what in ("fired", "wrong")),
)


@register("axis", "operators")
class Operators(Axis[NoSettings]):
    """Which operator gave the answer (the last, if several acted), and whether it was wrong.

    fired : 1 if an operator acted. No better direction.
    fired_wrong : 1 if one acted and the case is not a success; None if none acted. Lower is better.
        Only a run without operators shows whether the reader alone had been right.
    fired_NAME : like fired, for this operator alone.
    wrong_NAME : like fired_wrong, for this operator alone.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        name: LOWER if "wrong" in name else None for name in NAMES
    }
    of_success: ClassVar[frozenset[str]] = frozenset(name for name in NAMES if "wrong" in name)

    def score(self, scored: Scored) -> AxisScore:
        answer = scored.answer
        if answer is None:
            return self.undefined()
        marked = [p for p in answer.provisions if p.startswith(ACTED)]
        acted = marked[-1].removeprefix(ACTED) if marked else ""
        wrong = float(not scored.succeeded)
        values: dict[str, float | None] = {
            "fired": float(bool(acted)),
            "fired_wrong": wrong if acted else None,
        }
        for name in OPERATORS:
            values[f"fired_{name}"] = float(acted == name)
            values[f"wrong_{name}"] = wrong if acted == name else None
        return AxisScore(values=values, evidence=(f"acted: {acted}",) if acted else ())
