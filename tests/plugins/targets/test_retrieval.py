"""Each boundary of the six regimes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from framework.contracts import Evidence, Outcome
from framework.contracts.improve import UNCLASSIFIED
from framework.pipeline.pack import pack
from framework.records import Item
from plugins.targets.retrieval import (
    evidence_of,
    retrieval_taxonomy,
    retrieval_variants,
    truncated,
)

TAXONOMY = retrieval_taxonomy()


def seen(rank: int | None, id_: str = "e") -> Evidence:
    return Evidence(id=id_, rank=rank, in_view=True)


def dropped(rank: int | None, id_: str = "e") -> Evidence:
    """Packing came to it, and it did not fit."""
    return Evidence(id=id_, rank=rank, in_view=False)


def crowded(rank: int | None, id_: str = "e") -> Evidence:
    """The budget was full before packing came to it."""
    return Evidence(id=id_, rank=rank, in_view=False, considered=False)


def failure(*turns: Evidence, **more: Any) -> Outcome:
    return Outcome(**{"case_id": "c", "kind": "k", "correct": False, "truncated": True, **more},
                   turns=turns)  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "regime"),
    [
        (failure(), UNCLASSIFIED),
        (failure(crowded(None)), "scoring-error"),
        (failure(crowded(None), seen(1)), "assemble-internal"),
        (failure(seen(20)), "assemble-internal"),
        (failure(seen(21)), "retrieval-signal-gap"),
        (failure(dropped(20)), "budget-truncation"),
        (failure(dropped(21)), "retrieval-signal-gap"),
        # The published bug: a turn of rank 126 that packing passed by is no truncation.
        (failure(dropped(126)), "retrieval-signal-gap"),
        (failure(dropped(126), crowded(3)), "assembly-crowding"),
        (failure(crowded(20)), "assembly-crowding"),
        # Half of the well-ranked evidence is enough for the failure to be the reader's.
        (failure(seen(1), dropped(2)), "assemble-internal"),
        (failure(seen(1), dropped(2), dropped(3)), "budget-truncation"),
        (failure(seen(1), crowded(2), crowded(3)), "assembly-crowding"),
        # What is not well ranked does not count for the coverage.
        (failure(seen(1), dropped(21), dropped(22)), "assemble-internal"),
        # Without a cut view nothing was truncated: a rule dropped it.
        (failure(dropped(2), truncated=False), "assembly-crowding"),
        # Turns decide before sessions; sessions where there are no turns.
        (failure(dropped(2), sessions=(seen(1),)), "budget-truncation"),
        (failure(sessions=(seen(1),)), "assemble-internal"),
        (failure(sessions=(crowded(None),)), "scoring-error"),
        (failure(seen(1), correct=True), ""),
    ],
)
def test_each_boundary(outcome: Outcome, regime: str) -> None:
    assert TAXONOMY.regime_of(outcome) == regime


def test_the_thresholds_move_the_boundaries() -> None:
    assert retrieval_taxonomy(k=10).regime_of(failure(seen(11))) == "retrieval-signal-gap"
    assert retrieval_taxonomy(floor=0.75).regime_of(
        failure(seen(1), dropped(2))
    ) == "budget-truncation"  # fmt: skip
    assert retrieval_variants()["k=25 floor=0.5"].regime_of(failure(seen(21))) == (
        "assemble-internal"
    )


def test_the_table_has_two_walls_and_every_seam() -> None:
    seams = {regime.name: regime.seams for regime in TAXONOMY.regimes}
    assert [name for name, reached in seams.items() if not reached] == [
        "scoring-error",
        "retrieval-signal-gap",
    ]
    assert {seam for reached in seams.values() for seam in reached} == {
        "score",
        "assembly",
        "reader_prompt",
    }
    assert TAXONOMY.seams_of(UNCLASSIFIED) == ()


def test_a_histogram_counts_failures_most_first() -> None:
    outcomes = [failure(seen(1)), failure(seen(30)), failure(seen(2)), failure(correct=True)]
    assert list(TAXONOMY.histogram(outcomes).items()) == [
        ("assemble-internal", 2),
        ("retrieval-signal-gap", 1),
    ]


def record_of(*texts: str, budget: int, ranked: Any = None) -> Mapping[str, Any]:
    items = [Item(id=f"i{n}", text=text, source_ids=(f"s{n}",)) for n, text in enumerate(texts)]
    return {"trace": pack(items, budget, "truncate").trace, "ranked": ranked}


def test_evidence_is_read_off_the_trace() -> None:
    record = record_of("one two three", "four five six", "seven", budget=5)
    first, second, third, absent = evidence_of(
        {"a": ["s0"], "b": ["s1"], "c": ["s2"], "d": ["s9"]}, record
    )
    assert (first.rank, first.in_view, first.considered) == (1, True, True)
    assert (second.rank, second.in_view, second.considered) == (2, False, True)  # cut
    assert (third.rank, third.in_view, third.considered) == (3, False, False)
    assert (absent.rank, absent.in_view, absent.considered) == (None, False, False)
    assert truncated(record)
    assert not truncated(record_of("one", budget=5))


def test_what_an_assembly_rule_dropped_keeps_its_rank() -> None:
    record = record_of("kept", budget=9, ranked=[("i9", ("gone",)), ("i0", ("s0",))])
    gone, kept = evidence_of({"a": ["gone"], "b": ["s0"]}, record)
    assert (gone.rank, gone.in_view, gone.considered) == (1, False, False)
    assert (kept.rank, kept.in_view) == (2, True)
