"""Whether the answer used what the view held, and succeeded without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from framework.retention import facts, required, states_fact
from plugins.axes._answers import HIGHER, share, succeeded


@register("axis", "use")
class Use(Axis[NoSettings]):
    """Use given retention (Depth's kappa and lambda), which splits failures in two.

    With success the domain's, and all required items retained or not, the means over any set of
    cases satisfy exactly P(success) = P_ret kappa + (1 - P_ret) leak.

    use_rate : share of the facts in the view that the answer states right, in [0, 1]; None when the
        view held none. Higher is better.
    kappa : success (0 or 1) where all required items were in the view, else None. Higher is better.
        Between arms compare it on the cases that all of them retained.
    leak : success where they were not, else None: luck, priors, or a decision that needs less. It
        has no better direction.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "use_rate": HIGHER,
        "kappa": HIGHER,
        "leak": None,
    }
    needs: ClassVar[tuple[str, ...]] = ("success", "items")

    def score(self, scored: Scored) -> AxisScore:
        answer, gold, kept = scored.answer, scored.case.gold, scored.retained
        if answer is None or not gold.items:
            return self.undefined()
        held = [item for item in facts(gold) if kept[item.id]]
        used = [item for item in held if states_fact(answer, item)]
        missing = [item.id for item in required(gold) if not kept[item.id]]
        success = float(succeeded(scored, answer))
        values = {
            "use_rate": share(len(used), len(held)),
            "kappa": None if missing else success,
            "leak": success if missing else None,
        }
        evidence = (
            f"facts in the view: {len(held)}, stated right: {len(used)}",
            f"required but not in the view: {', '.join(missing) or 'none'}; "
            f"{'success' if success else 'failure'}",
        )
        return AxisScore(values=values, evidence=evidence)
