"""Whether a correction is honoured once it has come in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from framework.contracts import Axis, Scored
from framework.records import Answer, AxisScore, Gold
from framework.registry import NoSettings, register
from framework.text.reading import read_json
from plugins.domains.governance.invariant import values_of

TRIED: Final = "retired_tried"


def uses_retired(answer: Answer, gold: Gold) -> float:
    """Whether an answer sets what a corrected precedent fixed: 1 or 0."""
    values = values_of(answer.edit, read_json(gold.invariant)["component"])
    return float(any(values.get(retired.key) == retired.value for retired in gold.retired))


@register("axis", "correction")
class Correction(Axis[NoSettings]):
    """Whether corrections are followed; None unless the case's precedent was corrected before.

    correction_honoured : 1 if the answer sets what the correction demands. Higher is better.
    honoured_at_once : 1 if the first answer of a session sets it and does everything else that the
        plan asks for; without a session, the only answer. Higher is better.
    retired_used : 1 if the answer sets what the precedent demanded before it was corrected. Lower
        is better.
    retired_tried : 1 if any answer of the session sets what the precedent demanded before; without
        a session, the only answer. None if a session kept no record of its answers. Lower is
        better.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "correction_honoured": True,
        "honoured_at_once": True,
        "retired_used": False,
        "retired_tried": False,
    }
    needs: ClassVar[tuple[str, ...]] = ("correction",)

    def score(self, scored: Scored) -> AxisScore:
        answer, gold = scored.answer, scored.case.gold
        if answer is None or not gold.retired or not gold.invariant:
            return self.undefined()
        honoured = float(scored.domain.success(answer, gold))
        used = uses_retired(answer, gold)
        return AxisScore(
            values={
                "correction_honoured": honoured,
                "honoured_at_once": scored.session.get("resolved_first", honoured),
                "retired_used": used,
                TRIED: scored.session.get(TRIED, None if scored.session else used),
            },
            evidence=tuple(f"{r.key}: no longer {r.value}" for r in gold.retired),
        )
