"""Whether the facts that the answer states are the case's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import ABSTAIN, AxisScore
from framework.registry import NoSettings, register
from framework.retention import facts, states_fact
from plugins.axes._answers import HIGHER, LOWER, committed, share


@register("axis", "frp")
class FRP(Axis[NoSettings]):
    """Factual precision: the value claimed for each fact's key is the gold value (LongHorizon 3.2).

    All values lie in [0, 1]. Claims are `Answer.facts`, compared as typed values (`$147,500` and
    `147500` are one amount); two values for one key are wrong, as is a paraphrase.

    frp : right facts / gold facts (the paper's formula, a recall). Abstaining scores 0, except
        where abstaining is the gold decision. Higher is better.
    frp_critical : the same over the facts that the decision turned on.
    frp_precision : right facts / facts claimed, over the keys that have a gold value. Higher is
        better; None when nothing is claimed.
    frp_guessed : share of the right facts that the view did not hold: what stands above the surface
        ceiling was guessed. Lower is better; None when no fact is right.

    A case without facts (without critical ones) has no value.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "frp": HIGHER,
        "frp_precision": HIGHER,
        "frp_critical": HIGHER,
        "frp_guessed": LOWER,
    }
    needs: ClassVar[tuple[str, ...]] = ("facts",)
    precision: ClassVar[Mapping[str, str]] = {
        "frp": "frp_precision",
        "frp_critical": "frp_precision",
    }

    def score(self, scored: Scored) -> AxisScore:
        answer, gold = scored.answer, scored.case.gold
        asked = facts(gold)
        if answer is None or not asked:
            return self.undefined()
        right = {item.id for item in asked if states_fact(answer, item)}
        claimed = [item for item in asked if item.key in answer.facts]
        critical = [item for item in asked if item.critical]
        guessed = [id for id in right if not scored.retained[id]]
        counts = committed(answer) or gold.decision == ABSTAIN
        values = {
            "frp": len(right) / len(asked) if counts else 0.0,
            "frp_precision": share(len(right), len(claimed)),
            "frp_critical": share(
                sum(item.id in right for item in critical) if counts else 0, len(critical)
            ),
            "frp_guessed": share(len(guessed), len(right)),
        }
        evidence = tuple(
            f"{item.key}: gold {', '.join(item.anchors)}, "
            f"claimed {answer.facts.get(item.key, 'nothing')}: "
            f"{'right' if item.id in right else 'wrong'}"
            f"{', not in the view: guessed' if item.id in guessed else ''}"
            for item in asked
        )
        if not counts:
            evidence += ("abstained: frp and frp_critical are 0",)
        return AxisScore(values=values, evidence=evidence)
