"""What the view holds of the decision that governs a task, and of the chain that leads to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore, GoldItem
from framework.registry import NoSettings, register
from framework.retention import event_ranks
from plugins.axes._answers import HIGHER, LOWER


@register("axis", "chain")
class Chain(Axis[NoSettings]):
    """Retrieval in governed corpora (Depth 5.2 and 7): the governing decision and its chain.

    Of the view, under the budget, and model-free:

    recall : share of the required gold items that are in the view: |R and G| / |G| (Depth 5.2). Its
        mean is P_ret.
    precision : share of the view's items that come from a governing event; an item made of several
        events counts by their share. 0 for an empty view.
    f1 : 2 precision recall / (precision + recall) per case; 0 if both are 0.
    chain_recall : share of all gold items, including the links of the chain, that are in the view.
    chain_recovery : 1 if all gold items are in the view, else 0: every hop can be read.
    distractor_share : share of the view's items that come from look-alikes of the governing event.
        Lower is better. (Depth's noise retention is a ratio of recalls between two runs.)

    Of the arm's whole ranking, in or out of the budget:

    entry_rank : rank of the entry event. Lower is better; None if it was not recalled.
    entry_found : 1 if the entry event was recalled at all, else 0.
    supersession : 1 if the governing event ranks before every retired one, else 0; None if nothing
        was retired, or neither was recalled. An event that was not recalled ranks last.

    A case whose gold names no governing event has no value. With scattered decisions the governing
    event of a ranking is the first of its parts to come.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "recall": HIGHER,
        "precision": HIGHER,
        "f1": HIGHER,
        "chain_recall": HIGHER,
        "chain_recovery": HIGHER,
        "entry_rank": LOWER,
        "entry_found": HIGHER,
        "supersession": HIGHER,
        "distractor_share": LOWER,
    }
    needs: ClassVar[tuple[str, ...]] = ("chain",)
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)
    amounts: ClassVar[frozenset[str]] = frozenset({"entry_rank"})

    def score(self, scored: Scored) -> AxisScore:
        gold, kept = scored.case.gold, scored.retained
        if not gold.governing or not gold.items:
            return self.undefined()
        recall = _share(gold.required, kept)
        precision = _from(scored, gold.governing)
        chain = _share(gold.items, kept)
        rank_of = event_ranks(scored.view)
        entry = rank_of.get(gold.entry)
        retired = {source for value in gold.retired for source in value.source_ids}
        values = {
            "recall": recall,
            "precision": precision,
            "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
            "chain_recall": chain,
            "chain_recovery": float(all(kept[item.id] for item in gold.items)),
            "entry_rank": None if entry is None else float(entry),
            "entry_found": float(entry is not None) if gold.entry else None,
            "supersession": _first(rank_of, set(gold.governing), retired),
            "distractor_share": _from(scored, gold.distractors) if gold.distractors else None,
        }
        return AxisScore(
            values=values,
            evidence=(
                f"entry {gold.entry or 'none'}: rank {entry or 'none'}",
                *(f"governing {e}: rank {rank_of.get(e, 'none')}" for e in gold.governing),
            ),
        )


def _share(items: tuple[GoldItem, ...], kept: Mapping[str, bool]) -> float:
    return sum(kept[item.id] for item in items) / len(items)


def _from(scored: Scored, events: tuple[str, ...]) -> float:
    """Share of the view's items that come from the events; of an item of several, their share."""
    items = scored.view.items
    sources = [set(item.source_ids) for item in items]
    return sum(len(own & set(events)) / max(1, len(own)) for own in sources) / max(1, len(items))


def _first(rank_of: Mapping[str, int], current: set[str], retired: set[str]) -> float | None:
    """Whether one of the current events ranks before all retired ones."""
    now = min((rank_of[e] for e in current if e in rank_of), default=None)
    old = min((rank_of[e] for e in retired if e in rank_of), default=None)
    if not retired or (now is None and old is None):
        return None
    return float(old is None or (now is not None and now < old))
