"""Whether a correction is honoured once it has come in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from framework.text.reading import read_json
from plugins.domains.governance.invariant import values_of


@register("axis", "correction")
class Correction(Axis[NoSettings]):
    """What becomes of a correction; of cases whose precedent was corrected before, else None.

    correction_honoured : the answer sets what the correction fixes. Higher is better.
    honoured_at_once : so did the first answer, in a session; without one as above. It asks for all
        else that the plan asks for too. Higher is better.
    retired_used : the answer sets what the corrected precedent fixed. Lower is better.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "correction_honoured": True,
        "honoured_at_once": True,
        "retired_used": False,
    }
    needs: ClassVar[tuple[str, ...]] = ("correction",)

    def score(self, scored: Scored) -> AxisScore:
        answer, gold = scored.answer, scored.case.gold
        if answer is None or not gold.retired or not gold.invariant:
            return self.undefined()
        honoured = float(scored.domain.success(answer, gold))
        component = read_json(gold.invariant)["component"]
        values = values_of(answer.edit, component)
        used = any(values.get(retired.key) == retired.value for retired in gold.retired)
        return AxisScore(
            values={
                "correction_honoured": honoured,
                "honoured_at_once": scored.session.get("resolved_first", honoured),
                "retired_used": float(used),
            },
            evidence=tuple(f"{r.key}: no longer {r.value}" for r in gold.retired),
        )
