"""Theorem 6 by hand, where its condition holds, and where it does not."""

from __future__ import annotations

from random import Random

import pytest

from plugins.recipes.depth._scatter import (
    assembly,
    location_bits,
    paper_location_bits,
    probes,
)
from plugins.recipes.depth.fragments import Assembled, assembled

CORPORA, TASKS = 30, 10
Hits = dict[str, list[bool]]


def of(hits: Hits) -> Assembled:
    return assembled(hits, {case: case.partition("-")[0] for case in hits}, seed=7)


def cases() -> list[str]:
    return [f"{corpus}-{task}" for corpus in range(CORPORA) for task in range(TASKS)]


def test_by_hand() -> None:
    """Two of eight places are one of 28; half of two fragments come in a quarter of the cases."""
    assert location_bits(2, 8) == pytest.approx(4.8074, abs=1e-4)
    assert paper_location_bits(2, 8) == 4
    assert probes(2, 0.5) == 4
    assert assembly(2, 0.5) == 0.25
    found = of(
        {"0-0": [True, True], "0-1": [True, False], "1-0": [False, True], "1-1": [False] * 2}
    )
    assert (found.sigma, found.hit.mean, found.whole.mean) == (2, 0.5, 0.25)
    assert found.bound.value == 0.25
    assert found.stands == "no limits"  # two corpora


def test_independent_hits_are_at_the_bound() -> None:
    rng = Random(5)
    found = of({case: [rng.random() < 0.6 for _ in range(3)] for case in cases()})
    assert found.whole.mean == pytest.approx(0.6**3, abs=0.06)
    assert found.bound.value == pytest.approx(0.6**3, abs=0.06)
    assert found.stands == "not told apart"


def test_fragments_that_come_together_are_above_it() -> None:
    """One draw for all three: the theorem's own remark on fragments in one unit of retrieval."""
    rng = Random(5)
    found = of({case: [rng.random() < 0.6] * 3 for case in cases()})
    assert found.whole.mean == found.hit.mean
    assert found.stands == "above the bound"


def test_decisions_of_which_some_are_easy_are_above_it() -> None:
    rng = Random(5)
    easy = {case: 0.95 if rng.random() < 0.5 else 0.05 for case in cases()}
    found = of({case: [rng.random() < p for _ in range(3)] for case, p in easy.items()})
    assert found.stands == "above the bound"


def test_fragments_that_drive_each_other_out_are_below_it() -> None:
    rng = Random(5)
    found = of({case: rng.sample([True, False], 2) for case in cases()})
    assert (found.hit.mean, found.whole.mean) == (0.5, 0.0)
    assert found.stands == "below the bound"


def test_nothing_held_has_a_bound_of_nothing() -> None:
    found = of({case: [False, False] for case in cases()})
    assert found.bound.value == 0.0
    assert found.stands == "not told apart"


def test_more_fragments_than_items_are_refused() -> None:
    with pytest.raises(ValueError, match="expected"):
        paper_location_bits(5, 4)
