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
    """Use given retention (Depth's kappa and lambda), which splits failures in two.

    A case is *used* when the answer is right and determined: a success by the declared default or
    by a forced choice is luck. Right is what counts as a success: as judged where a judge says it
    (`answer_correct`), else by the domain's rule. A view is *sufficient* by the domain's rule
    (`p_ret`). Over any cases with a decision to make the means satisfy exactly

    P(success) = P_ret kappa + (1 - P_ret) leak + right_undetermined

    with P_ret of the same cases (`p_ret_read`): a rule-based reader's figures are of the forms that
    it reads, and those of `p_ret`, which needs no reader, are not.

    use_rate : share of the facts in the view that the answer states right, in [0, 1]; None when the
        view held none. Higher is better.
    kappa : used (0 or 1) where the view was sufficient, else None. Higher is better. Between arms
        compare it on the cases in which all of them had a sufficient view.
    leak : used where it was not sufficient, else None: luck, priors, or an answer from less than
        the policy needs. It has no better direction.
    p_ret_read : 1 when the view was sufficient, else 0: the P_ret of the cases of kappa and leak.
    right_undetermined : 1 when right though undetermined. It has no better direction.
    kappa_abstain, leak_abstain : the same where abstaining is right; the columns above are None
        there, since any view that holds too little leads to abstaining.
    kappa_corrected, leak_corrected, right_undetermined_corrected : the shares behind these where a
        judge says what is right, by its error on answers of known truth, which is assumed to be
        the same there.
    kappa_abstain_corrected, leak_abstain_corrected : the same where abstaining is right.
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
