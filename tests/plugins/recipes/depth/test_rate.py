"""Theorem 5's ceiling by hand, memories under it, and one that knows what is asked."""

from __future__ import annotations

import math
from random import Random

import pytest

from plugins.domains.governance.domain import Governance
from plugins.domains.governance.lexicon import chances, decision_bits
from plugins.recipes._cells import Measured
from plugins.recipes.depth._information import compression_ceiling, recall_ceiling
from plugins.recipes.depth.rate import compressed_bits, under


def test_the_entropy_by_hand() -> None:
    """One of two kinds, then one of 60 steps, or one of three widths and 58, 57 or 56 places."""
    single = 1 + math.log2(60)
    ranged = 1 + math.log2(3) + (math.log2(58) + math.log2(57) + math.log2(56)) / 3
    assert decision_bits() == pytest.approx((single + ranged) / 2)
    assert decision_bits() == pytest.approx(7.662, abs=1e-3)
    assert len(chances()) == 60 + 58 + 57 + 56 == Governance.decision_values()
    assert Governance.decision_bits() == decision_bits()


def test_the_ceiling_by_hand() -> None:
    """Of a fair bit, none kept: a guess. Half of it kept: H_b(.11) = .5 is what is left open."""
    assert recall_ceiling(0, 1, 2) == pytest.approx(0.5)
    assert recall_ceiling(0.5, 1, 2) == pytest.approx(0.89, abs=1e-3)
    assert recall_ceiling(1, 1, 2) == pytest.approx(1)
    assert recall_ceiling(9, 7.662, 231) == 1
    with pytest.raises(ValueError, match="expected"):
        recall_ceiling(-1, 1, 2)


@pytest.mark.parametrize("rate", [0.0, 0.7, 2.0, 3.9])
def test_of_uniform_decisions_it_is_the_law_as_printed(rate: float) -> None:
    assert recall_ceiling(rate, 4, 16) == pytest.approx(compression_ceiling(rate, 16))


def test_a_memory_of_every_second_decision_is_under_the_ceiling() -> None:
    """Kept as they are with the cheapest code, they cost H / 2 a decision."""
    for share in (0.1, 0.5, 0.9):
        assert share <= recall_ceiling(share * decision_bits(), decision_bits(), 231)


def test_compressed_without_loss_it_is_never_less_than_what_was_put_in() -> None:
    rng = Random(2)
    text = "".join(rng.choice("ab") for _ in range(20_000))
    assert 20_000 <= compressed_bits(text) < 8 * 20_000
    assert compressed_bits("one record. " * 500) < 1000


def test_what_is_said_of_the_ceiling() -> None:
    few = Measured(value=0.05, low=0.01, high=0.1)
    assert under(few, 0.4) == "below"
    assert under(few, 0.07) == "not told apart"
    assert under(few, 1.0) == "not bounded"
    assert under(Measured(value=0.05), 0.4) == "no limits"
    # A memory that keeps of the corpus what will be asked alone.
    assert under(Measured(value=0.9, low=0.8, high=0.95), 0.4) == "above"
