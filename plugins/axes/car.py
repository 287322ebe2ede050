"""Whether the answer commits where it should, and abstains where it should."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import ABSTAIN, AxisScore
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER, committed, right_by_rule


@register("axis", "car")
class CAR(Axis[NoSettings]):
    """Calibrated abstention: coverage, accuracy where decided, and abstaining when right to.

    Each value is 0 or 1 for a case; means over cases are the paper's quantities (LongHorizon 3.5
    and 7.2). Accuracy is the domain's success. Higher is better but for `commit_rate` and
    `default_rate`, which have no better direction.

    commit_rate : 1 if the answer decides: |C| / N.
    default_rate : 1 if the reader could determine nothing and fell back on the task's default or on
        an even choice: such an answer is sometimes right by chance, and counts as committed.
    conditional_accuracy : success; None if not committed: sum over C / |C|.
    commit_all_accuracy : 1 if committed and a success: sum over C / N, so an abstention counts as
        wrong.
    abstention_case : 1 if it abstained exactly when the gold decision is to abstain.
    abstention_view : 1 if it abstained exactly when the policy, applied to what the view holds,
        can't decide or refers the case (validity.md section 2); None if the domain does not compute
        that.

    A case without a gold decision has no value.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "commit_rate": None,
        "default_rate": None,
        "conditional_accuracy": HIGHER,
        "commit_all_accuracy": HIGHER,
        "abstention_case": HIGHER,
        "abstention_view": HIGHER,
    }
    of_decision: ClassVar[frozenset[str]] = frozenset({"commit_all_accuracy"})
    needs: ClassVar[tuple[str, ...]] = ("policy",)

    def score(self, scored: Scored) -> AxisScore:
        answer, gold = scored.answer, scored.case.gold
        if answer is None or not gold.decision:
            return self.undefined()
        commits = committed(answer)
        success = right_by_rule(scored, answer)
        held = frozenset(id for id, kept in scored.retained.items() if kept)
        from_view = scored.domain.decision_from(scored.case, held)
        values = {
            "commit_rate": float(commits),
            "default_rate": float(answer.defaulted),
            "conditional_accuracy": float(success) if commits else None,
            "commit_all_accuracy": float(success and commits),
            "abstention_case": float((gold.decision == ABSTAIN) != commits),
            "abstention_view": None
            if from_view is None
            else float((from_view == ABSTAIN) != commits),
        }
        evidence = (
            f"{'committed' if commits else 'abstained'}; gold {gold.decision}"
            f"{'' if gold.decidable else ' (open in the record)'}; "
            f"from what the view held: {from_view or 'not computed'}",
        )
        return AxisScore(values=values, evidence=evidence)
