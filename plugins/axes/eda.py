"""Whether the decision is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER, right_by_rule


@register("axis", "eda")
class EDA(Axis[NoSettings]):
    """Decision accuracy: the decision, and its amount if it has one.

    Each value is 0 or 1, higher is better (LongHorizon 3.1, with strict labels: `PARTIAL PAY` is
    not `PAY` and an empty decision is wrong). A gold decision to abstain is a label like any other.

    eda : the domain's success: 1 if the label is exactly right and the amount within the gold's
        tolerance.
    decision_accuracy : 1 if the label is right, whatever the amount.
    eda_determined : eda if the reader determined its answer from the view, else None.
    eda_undetermined : eda if it fell back on a default or an even choice, else None: luck, so
        neither direction is better.
    eda_balanced : the mean of eda by gold decision, each decision weighted equally whatever its
        share of the cases. The same answer to every case gets at most 1 / number of decisions.

    A case without a gold decision has no value.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "eda": HIGHER,
        "decision_accuracy": HIGHER,
        "eda_determined": HIGHER,
        "eda_undetermined": None,
    }
    of_decision: ClassVar[frozenset[str]] = frozenset({"eda", "decision_accuracy"})
    balanced: ClassVar[Mapping[str, str]] = {"eda_balanced": "eda"}
    needs: ClassVar[tuple[str, ...]] = ("decision",)

    def score(self, scored: Scored) -> AxisScore:
        gold, answer = scored.case.gold, scored.answer
        if answer is None or not gold.decision:
            return self.undefined()
        right = answer.decision == gold.decision
        success = right_by_rule(scored, answer)
        evidence = [
            f"decision: gold {gold.decision}, given {answer.decision or 'none'}: {_word(right)}"
        ]
        if gold.amount is not None:
            given = "none" if answer.amount is None else f"{answer.amount:,.2f}"
            evidence.append(
                f"amount: gold {gold.amount:,.2f} within {gold.amount_tolerance:,.2f}, "
                f"given {given}: {_word(success)} with its label"
            )
        values = {
            "eda": float(success),
            "decision_accuracy": float(right),
            "eda_determined": None if answer.defaulted else float(success),
            "eda_undetermined": float(success) if answer.defaulted else None,
        }
        return AxisScore(values=values, evidence=tuple(evidence))


def _word(right: bool) -> str:
    return "right" if right else "wrong"
