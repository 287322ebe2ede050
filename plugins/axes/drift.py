"""How similarity to the task falls along the chain to what governs it, by the run's embedder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any, ClassVar, Final

from framework.contracts import Axis, Embedder, Scored, maybe_await
from framework.models.client import Ledger, book, track_usage
from framework.records import AxisScore, Gold, Usage
from framework.registry import NoSettings, register
from framework.statistics.drift import kept_a_link
from framework.text.canonical import digest

OTHERS: Final = 8
"""Unrelated events that the background is measured on."""

Values = Mapping[str, float | None]


@register("axis", "drift")
class Drift(Axis[NoSettings]):
    """The measured drift of a case, by its embedder (Depth assumption 4, table 3).

    A property of case and embedder, the same whatever the arm: one arm is enough to measure it.
    Similarity is the cosine of two texts' vectors, in [-1, 1], along the chain that the domain
    gives (`Domain.chain_texts`). Neither direction is better.

    achieved_rho_embedded : share of the similarity to the task that each link keeps: the sum of
        similarities from the chain's second text to its last, over the sum from the first to the
        last but one. None if the latter is not above 0.
    entry_similarity_embedded : similarity of the task to the first text of the chain.
    governing_similarity_embedded : similarity of the task to the last text of the chain.
    hop_similarity_embedded : mean similarity of a text of the chain to the next; None for a chain
        of one.
    background_similarity_embedded : mean similarity of the task to eight unrelated events of the
        history, drawn for the case. To most embedders even texts that share only grammar are
        similar, so that achieved_rho_embedded stays far above 0 whatever is lost.
    excess_rho_embedded : achieved_rho_embedded of the similarity above that background, comparable
        to the rho of shared content words; may be below 0. None if the first text of the chain is
        no more similar than the background.

    With `embedder=hashing` similarity is overlap of words. None where there
    is no chain. What the embedder takes is booked on the phase `measure`, for every row.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "achieved_rho_embedded": None,
        "entry_similarity_embedded": None,
        "governing_similarity_embedded": None,
        "hop_similarity_embedded": None,
        "background_similarity_embedded": None,
        "excess_rho_embedded": None,
    }
    needs_answer: ClassVar[bool] = False
    uses_embedder: ClassVar[bool] = True
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)

    def __init__(self, settings: NoSettings) -> None:
        super().__init__(settings)
        self._kept: dict[tuple[str, str], tuple[Values, Mapping[str, Usage]]] = {}

    async def score(self, scored: Scored) -> AxisScore:
        chain = scored.domain.chain_texts(scored.case)
        if scored.embedder is None or not chain:
            return self.undefined()
        place = scored.case.history_id, scored.case.id
        kept = self._kept.get(place)
        if kept is not None:  # another trial or repeat: at list price it takes as much again
            values, taken = kept
            for usage in taken.values():
                book(replace(usage, paid_usd=0.0, paid_calls=0))
            return AxisScore(values=values)
        ledger = Ledger()
        try:
            with track_usage(ledger, "measure", 0):
                values = await _along(scored, list(chain), scored.embedder)
        finally:
            for usage in ledger.usage().values():
                book(usage)
        self._kept[place] = values, ledger.usage()
        return AxisScore(values=values)


async def _along(scored: Scored, chain: list[str], embedder: Embedder[Any]) -> Values:
    """The columns of a task, its chain and what else is in its history, all embedded at once."""
    card = scored.case.task
    texts = [card.material.get("ticket", card.query), *chain, *_others(scored)]
    task, *vectors = await maybe_await(embedder.embed(texts))
    similarity = [float(task @ vector) for vector in vectors]
    surface, others = similarity[: len(chain)], similarity[len(chain) :]
    hops = [float(a @ b) for a, b in pairwise(vectors[: len(chain)])]
    background = _mean(others)
    found = (
        kept_a_link(surface),
        surface[0],
        surface[-1],
        _mean(hops),
        background,
        None if background is None else kept_a_link([s - background for s in surface]),
    )
    return dict(zip(Drift.names, found, strict=True))


def _others(scored: Scored) -> list[str]:
    """Texts of events that the gold does not name."""
    case = scored.case
    named = _named(case.gold)
    texts = [e.text for e in scored.domain.history(case.history_id) if e.id not in named]
    rng = Random(digest(["drift", case.history_id, case.id]))
    return rng.sample(texts, min(OTHERS, len(texts)))


def _named(gold: Gold) -> set[str]:
    sources = {span.source_id for item in gold.items for span in item.spans}
    retired = {source for value in gold.retired for source in value.source_ids}
    return {gold.entry, *gold.chain, *gold.governing, *gold.distractors, *sources, *retired}


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
