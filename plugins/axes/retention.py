"""What the view held of the gold, with no model asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import ABSTAIN, AxisScore
from framework.registry import NoSettings, register
from framework.retention import budget_ceiling, facts, gold_tokens
from plugins.axes._answers import HIGHER, share


@register("axis", "retention")
class Retention(Axis[NoSettings]):
    """Retention of gold items in the view, and the most that the budget allows.

    Model-free. Shares lie in [0, 1], higher is better. When an item counts
    as retained is told by `framework.retention.retained`.

    retained : share of all gold items that are in the view.
    retained_critical : share of the gold items that the decision depends on that are in the view.
    p_ret : 1 if the view suffices for the gold decision by the domain's rule (`Domain.suffices`:
        what the policy decides from it, or all required items), else 0; its mean is P_ret of
        Depth's P = P_ret kappa + (1 - P_ret) leak. None if abstaining is right.
    p_ret_abstain : p_ret for cases in which abstaining is right: there every required item must be
        in the view, since any poor view leaves the decision open. None for other cases.
    p_ret_all : 1 if all required items (the critical ones; all, if none is marked) are in the view,
        whether or not the decision depends on each of them. In runs made before this column
        existed, `p_ret` has this meaning.
    surface_ceiling : share of the facts that are in the view: the highest FRP possible without
        guessing.
    budget_ceiling : share of the facts in the best possible view of gold spans under the budget. A
        property of case and budget, so it has no better direction between arms.
    gold_tokens : tokens of the shortest spans that hold all gold items, critical or not. No better
        direction.

    Values without their items (no critical item, no fact with a value) are None.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "retained": HIGHER,
        "retained_critical": HIGHER,
        "p_ret": HIGHER,
        "p_ret_abstain": HIGHER,
        "p_ret_all": HIGHER,
        "surface_ceiling": HIGHER,
        "budget_ceiling": None,
        "gold_tokens": None,
    }
    needs: ClassVar[tuple[str, ...]] = ("items",)
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)
    amounts: ClassVar[frozenset[str]] = frozenset({"gold_tokens"})

    def score(self, scored: Scored) -> AxisScore:
        gold, kept = scored.case.gold, scored.retained
        if not gold.items:
            return self.undefined()
        critical = [kept[item.id] for item in gold.items if item.critical]
        asked = [kept[item.id] for item in facts(gold)]
        budget = scored.view.budget_tokens
        tokens = gold_tokens(gold)
        enough, abstains = float(bool(scored.sufficient)), gold.decision == ABSTAIN
        values = {
            "retained": sum(kept[item.id] for item in gold.items) / len(gold.items),
            "retained_critical": share(sum(critical), len(critical)),
            "p_ret": None if abstains else enough,
            "p_ret_abstain": enough if abstains else None,
            "p_ret_all": float(all(kept[item.id] for item in gold.required)),
            "surface_ceiling": share(sum(asked), len(asked)),
            "budget_ceiling": budget_ceiling(gold, budget),
            "gold_tokens": float(tokens),
        }
        evidence = tuple(
            f"{item.id}{' (critical)' if item.critical else ''}: "
            f"{'in the view' if kept[item.id] else 'not in the view'}"
            for item in gold.items
        )
        limit = "no budget" if budget is None else f"a budget of {budget}"
        verdict = f"{'suffices' if enough else 'does not suffice'} for the right answer"
        return AxisScore(
            values=values,
            evidence=(*evidence, f"gold: {tokens} tokens, {limit}", f"the view {verdict}"),
        )
