"""Why retrieval pipelines fail: six regimes by predicates over gold evidence, never gold answers.

The order and thresholds are those of Regimes section 6 and appendix B. Where turns are known they
are judged by, else sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from framework.contracts import Evidence, Outcome, Regime, Taxonomy
from framework.pipeline.pack import FULL

__all__ = [
    "ASSEMBLE_COVERAGE_FLOOR",
    "WELL_RANKED_K",
    "evidence_of",
    "histogram",
    "retrieval_taxonomy",
    "retrieval_variants",
    "truncated",
]

WELL_RANKED_K: Final = 20
"""Gold evidence of at most this rank is well ranked."""
ASSEMBLE_COVERAGE_FLOOR: Final = 0.5
"""The share of well-ranked evidence that must be in the view for a failure to be the reader's."""


def retrieval_taxonomy(k: int = WELL_RANKED_K, floor: float = ASSEMBLE_COVERAGE_FLOOR) -> Taxonomy:
    """The six regimes with their seams: two walls, three that a seam reaches, and the rest.

    k : rank up to which evidence is well ranked. floor : coverage of `assemble-internal`.
    """

    def well(outcome: Outcome) -> list[Evidence]:
        return [e for e in _gold(outcome) if e.rank is not None and e.rank <= k]

    def scoring_error(outcome: Outcome) -> bool:
        gold = _gold(outcome)
        return bool(gold) and all(e.rank is None for e in gold)

    def signal_gap(outcome: Outcome) -> bool:
        return any(e.rank is not None for e in _gold(outcome)) and not well(outcome)

    def assemble_internal(outcome: Outcome) -> bool:
        ranked = well(outcome)
        return bool(ranked) and sum(e.in_view for e in ranked) >= floor * len(ranked)

    def budget_truncation(outcome: Outcome) -> bool:
        # The evidence that was dropped must itself be well ranked: one of rank 126 that packing
        # passed by is a signal gap (the published bug, commit eac54add).
        return outcome.truncated and any(not e.in_view and e.considered for e in well(outcome))

    def assembly_crowding(outcome: Outcome) -> bool:
        return any(not e.in_view for e in well(outcome))

    table: tuple[tuple[str, Callable[[Outcome], bool], tuple[Any, ...], str], ...] = (
        ("scoring-error", scoring_error, (), "no gold evidence was recalled at all"),
        ("assemble-internal", assemble_internal, ("reader_prompt",),
         "the evidence was in the view and the answer is wrong"),
        ("budget-truncation", budget_truncation, ("score", "assembly"),
         "well-ranked evidence met the budget's end and stayed out of the view"),
        ("assembly-crowding", assembly_crowding, ("assembly", "score"),
         "well-ranked evidence was never considered: what stood before it used the budget up"),
        ("retrieval-signal-gap", signal_gap, (), "the evidence was recalled but ranked too low"),
    )  # fmt: skip
    return Taxonomy(
        name="retrieval",
        regimes=tuple(Regime(name=n, holds=h, seams=s, meaning=m) for n, h, s, m in table),
    )


def retrieval_variants() -> dict[str, Taxonomy]:
    """The six regimes under other thresholds, for the sensitivity of a histogram to them."""
    grid = [(k, ASSEMBLE_COVERAGE_FLOOR) for k in (5, 10, 15, 25, 30)]
    grid += [(WELL_RANKED_K, floor) for floor in (0.25, 0.5, 0.75, 1.0)]
    return {f"k={k} floor={floor:g}": retrieval_taxonomy(k, floor) for k, floor in grid}


def histogram(taxonomy: Taxonomy, outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Failures by regime, most first and then in the taxonomy's order; none for what is correct."""
    counts = Counter(taxonomy.regime_of(o) for o in outcomes if not o.correct)
    order = [r.name for r in taxonomy.regimes]
    place = {name: i for i, name in enumerate(order)}
    names = sorted(counts, key=lambda name: (-counts[name], place.get(name, len(order))))
    return {name: counts[name] for name in names}


def evidence_of(
    sources: Mapping[str, Sequence[str]],
    record: Mapping[str, Any],
    in_view: Mapping[str, bool] | None = None,
    used: Mapping[str, bool] | None = None,
) -> tuple[Evidence, ...]:
    """What became of gold evidence, from a case's record.

    Args:
        sources: by the evidence's id, the events that carry it.
        record: that of `framework.pipeline.path.Pipeline.rows`.
        in_view: by id, whether the reader saw it; without, whether an item that carries it was
            packed whole.
        used: by id, whether the answer states it right (`framework.retention.used`).
    """
    entries = {entry.item_id: entry for entry in record["trace"]}
    ranked = record.get("ranked") or [(e.item_id, e.source_ids) for e in record["trace"]]
    carriers: dict[str, list[tuple[int, str]]] = {}
    for rank, (item_id, source_ids) in enumerate(ranked, start=1):
        for source in source_ids:
            carriers.setdefault(source, []).append((rank, item_id))
    found = []
    for id_, events in sources.items():
        places = sorted({place for event in events for place in carriers.get(event, ())})
        packed = [entries[item] for _, item in places if item in entries]
        seen = any(entry.placed == "in" for entry in packed)
        found.append(
            Evidence(
                id=id_,
                rank=places[0][0] if places else None,
                in_view=in_view[id_] if in_view is not None else seen,
                considered=any(entry.why != FULL for entry in packed),
                used=None if used is None else used.get(id_),
            )
        )
    return tuple(found)


def truncated(record: Mapping[str, Any]) -> bool:
    """Whether something recalled did not fit into the view whole, from a case's record."""
    return any(entry.placed != "in" for entry in record["trace"])


def _gold(outcome: Outcome) -> tuple[Evidence, ...]:
    return outcome.turns or outcome.sessions
