"""Where the gold evidence stands in what an arm recalled."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from framework.retention import event_ranks
from plugins.axes._answers import HIGHER


@register("axis", "ranking")
class Ranking(Axis[NoSettings]):
    """Recall, nDCG, reciprocal rank and all-recall of the gold evidence among recalled events.

    All values lie in [0, 1] and concern the arm's ranking alone: the trace holds every recalled
    item, whether or not the budget let it into the view (for that, see the retention axes). The
    ranking of items becomes one of events by `framework.retention.event_ranks`.

    recall_at_2 : share of the evidence among the first 2 events.
    recall_at_5 : share of the evidence among the first 5 events.
    ndcg_at_10 : normalised discounted cumulative gain of the first 10 events: binary gains,
        discount log2(rank + 1), the ideal has all evidence first (Järvelin and Kekäläinen,
        "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002, 2.2).
    mrr : 1 / rank of the first evidence event, at any depth that the arm recalled; its mean over
        cases is the mean reciprocal rank (Voorhees, TREC-8 question answering track, 1999).
    map : mean over the evidence of the precision at its rank, 0 for evidence not recalled; its mean
        over cases is the mean average precision. With one piece of evidence it equals mrr (Depth
        24).
    both_facts : 1 if all evidence is among the first 5 events, else 0: the all-recall AR@5 of
        HippoRAG (Jiménez Gutiérrez et al., NeurIPS 2024, 5.2 and table 6).

    A case without evidence has no value (None); one for which the arm recalled nothing scores 0.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "recall_at_2": HIGHER,
        "recall_at_5": HIGHER,
        "ndcg_at_10": HIGHER,
        "mrr": HIGHER,
        "map": HIGHER,
        "both_facts": HIGHER,
    }
    needs: ClassVar[tuple[str, ...]] = ("evidence",)
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)

    def score(self, scored: Scored) -> AxisScore:
        gold = tuple(dict.fromkeys(scored.case.gold.evidence))
        if not gold:
            return self.undefined()
        rank_of = event_ranks(scored.view)
        ranks = sorted(rank_of[event] for event in gold if event in rank_of)
        values = {
            "recall_at_2": recall(ranks, len(gold), 2),
            "recall_at_5": recall(ranks, len(gold), 5),
            "ndcg_at_10": ndcg(ranks, len(gold), 10),
            "mrr": 1 / ranks[0] if ranks else 0.0,
            "map": average_precision(ranks, len(gold)),
            "both_facts": float(recall(ranks, len(gold), 5) == 1.0),
        }
        places = (f"rank {rank_of[e]}" if e in rank_of else "not recalled" for e in gold)
        evidence = tuple(f"{event}: {place}" for event, place in zip(gold, places, strict=True))
        return AxisScore(values=values, evidence=evidence)


def recall(ranks: Collection[int], relevant: int, k: int) -> float:
    """Share of `relevant` events whose rank, where they have one, is at most `k`."""
    return sum(rank <= k for rank in ranks) / relevant


def ndcg(ranks: Collection[int], relevant: int, k: int) -> float:
    """Discounted cumulative gain of the first `k` over that of all relevant events first."""
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= k)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, k) + 1))
    return gain / ideal


def average_precision(ranks: Sequence[int], relevant: int) -> float:
    """Mean over `relevant` events of the precision at their ranks, given in ascending order."""
    return sum(found / rank for found, rank in enumerate(ranks, start=1)) / relevant
