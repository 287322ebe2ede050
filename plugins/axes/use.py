"""Whether the answer used what the view held, and succeeded without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import ABSTAIN, AxisScore, Row
from framework.registry import NoSettings, register
from framework.retention import facts, states_fact
from plugins.axes._answers import HIGHER, share


@register("axis", "use")
class Use(Axis[NoSettings]):
    """Use given retention (Depth's kappa and lambda): splits failures into two kinds.

    A case is *used* when the answer is right and determined: a success by the declared default or
    by a forced choice is luck. Right is what counts as a success: as judged where a judge says it
    (`answer_correct`), else by the domain's rule. A view is *sufficient* by the domain's rule
    (`p_ret`). Over any cases with a decision to make the means satisfy exactly

    P(success) = P_ret kappa + (1 - P_ret) leak + right_undetermined

    with P_ret of the same cases (`p_ret_read`): a rule-based reader's figures are of the forms that
    it reads, and those of `p_ret`, which needs no reader, are not.

    use_rate : share of the facts in the view that the answer states correctly, in [0, 1]; None if
        the view held none. Higher is better.
    kappa : used (0 or 1) if the view was sufficient, else None. Higher is better. Compare arms on
        the cases in which all of them had a sufficient view.
    leak : used (0 or 1) if the view was not sufficient, else None: luck, prior knowledge, or an
        answer from less than the policy needs. No better direction.
    p_ret_read : 1 if the view was sufficient, else 0: P_ret over the cases of kappa and leak.
    right_undetermined : 1 if the answer is right but was not determined from the view. No better
        direction.
    kappa_abstain : like kappa, over the cases in which abstaining is right. kappa itself is None
        there, since any view that holds too little leads to abstaining.
    leak_abstain : like leak, over the cases in which abstaining is right. leak itself is None
        there, since any view that holds too little leads to abstaining.
    kappa_corrected, leak_corrected, right_undetermined_corrected : the column without `_corrected`,
        corrected for the judge's error on answers of known truth, where a judge says what is right.
        The error is assumed to be the same on these cases.
    kappa_abstain_corrected, leak_abstain_corrected : the column without `_corrected`, corrected for
        the judge's error in the same way.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "use_rate": HIGHER,
        "kappa": HIGHER,
        "leak": None,
        "p_ret_read": HIGHER,
        "right_undetermined": None,
        "kappa_abstain": HIGHER,
        "leak_abstain": None,
    }
    needs: ClassVar[tuple[str, ...]] = ("success", "items")
    of_success: ClassVar[frozenset[str]] = frozenset(
        {"kappa", "leak", "right_undetermined", "kappa_abstain", "leak_abstain"}
    )
    corrected: ClassVar[Mapping[str, str]] = {f"{name}_corrected": name for name in of_success}

    @staticmethod
    def has_verdict(row: Row, column: str) -> bool:
        """What a default or a guess decided is no use, and all else is not right by luck."""
        lucky = column == "right_undetermined"
        return bool(Axis.has_verdict(row, column)) and (row.determined is False) == lucky

    def score(self, scored: Scored) -> AxisScore:
        answer, gold, kept = scored.answer, scored.case.gold, scored.retained
        if answer is None or not gold.items:
            return self.undefined()
        held = [item for item in facts(gold) if kept[item.id]]
        stated = [item for item in held if states_fact(answer, item)]
        missing = [item.id for item in gold.required if not kept[item.id]]
        enough, success = bool(scored.sufficient), scored.succeeded
        used = float(success and not answer.defaulted)
        values: dict[str, float | None] = dict.fromkeys(self.names)
        values["use_rate"] = share(len(stated), len(held))
        which = "kappa" if enough else "leak"
        if gold.decision == ABSTAIN:
            values[f"{which}_abstain"] = used
        else:
            values[which] = used
            values["p_ret_read"] = float(enough)
            values["right_undetermined"] = float(success and answer.defaulted)
        evidence = (
            f"facts in the view: {len(held)}, stated right: {len(stated)}",
            f"required but not in the view: {', '.join(missing) or 'none'}; the view "
            f"{'suffices' if enough else 'does not suffice'}; {'success' if success else 'failure'}"
            f"{', undetermined' if answer.defaulted else ''}",
        )
        return AxisScore(values=values, evidence=evidence)
