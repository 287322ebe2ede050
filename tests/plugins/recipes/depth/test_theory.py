"""The theory's formulas against the paper's figures, brute force and each other."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.recipes.depth._hops import (
    advantage,
    crossover_depths,
    peak_depth,
    phase_boundary,
    similarity_ceiling,
    similarity_hitting_time,
    similarity_slope,
    traversal_recall,
    traversal_work,
)
from plugins.recipes.depth._information import (
    bayes_floor,
    compression_ceiling,
    fano_floor,
    learning_cost,
    pool_floor,
    regret_floor,
    value_of_context,
)
from plugins.recipes.depth._scatter import assembly, location_bits, probes, recall_after_both
from plugins.recipes.depth.laws import laws

SYNTHETIC = {"s0": 0.70, "rho": 0.67}
shares = st.floats(min_value=0.05, max_value=1.0)


def test_the_papers_operating_point() -> None:
    """Depth sections 8.4 and 8.6: .91, .031, g(1) = .50, g(2) = .79, crossover at 1 or 2."""
    assert traversal_recall(3, 0.97) == pytest.approx(0.91, abs=0.005)
    assert similarity_ceiling(3, **SYNTHETIC) == pytest.approx(0.031, abs=0.0005)
    assert advantage(1, q=0.97, **SYNTHETIC) == pytest.approx(0.50, abs=0.005)
    assert advantage(2, q=0.97, **SYNTHETIC) == pytest.approx(0.79, abs=0.005)
    depths = [crossover_depths(m, q=0.97, **SYNTHETIC) for m in (0.0, 0.5, 0.6, 0.79, 0.99)]
    assert [found and found[0] for found in depths] == [1, 1, 2, 2, None]


def test_the_papers_example_of_a_vacuous_closed_form() -> None:
    """Depth section 3: binary Y with P = .11 has .50 bit; the exact floor is .11, not negative."""
    bits = -(0.11 * math.log2(0.11) + 0.89 * math.log2(0.89))
    assert bits == pytest.approx(0.50, abs=0.001)
    assert fano_floor(bits, 2) == pytest.approx(0.11, abs=1e-9)
    assert bayes_floor([[0.89, 0.11]]) == pytest.approx(0.11)


def test_context_that_the_action_discards_is_worth_nothing() -> None:
    """The counterexample to Theorem 2 without injectivity: D = (D1, D2), Y = D1, C = D2."""
    joint = np.full((1, 2, 2), 0.25)
    assert value_of_context(joint) == pytest.approx(0)
    assert value_of_context(np.array([[[0.5, 0.0], [0.0, 0.5]]])) == pytest.approx(1)


@given(st.integers(2, 12), st.floats(0, 1))
def test_fano_is_the_smallest_error_that_the_bits_allow(actions: int, share: float) -> None:
    bits = share * math.log2(actions)
    p = fano_floor(bits, actions)
    held = 0.0 if p in (0, 1) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)
    assert held + p * math.log2(actions - 1) == pytest.approx(bits, abs=1e-6)
    assert 0 <= p <= 1 - 1 / actions + 1e-12
    assert compression_ceiling(math.log2(actions) - bits, actions) == pytest.approx(1 - p)


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=1, max_size=4))
def test_fano_never_exceeds_bayes(rows: list[list[float]]) -> None:
    joint = np.array(rows) / np.sum(rows)
    per_x = joint.sum(axis=1)
    bits = -float((joint * np.log2(joint / per_x[:, None])).sum())
    assert fano_floor(min(bits, math.log2(3)), 3) <= bayes_floor(joint) + 1e-9


@given(st.integers(1, 8), shares, st.floats(0.05, 0.99))
def test_similarity_falls_faster_with_every_hop(d: int, s0: float, rho: float) -> None:
    steps = [
        math.log(similarity_ceiling(k + 1, s0, rho) / similarity_ceiling(k, s0, rho))
        for k in (d, d + 1)
    ]
    assert steps[1] < steps[0]
    assert steps[1] - steps[0] == pytest.approx(math.log(rho))
    assert similarity_slope(d + 1, s0, rho) < similarity_slope(d, s0, rho)


@given(shares, st.floats(0.05, 0.99), st.floats(0.5, 0.999))
def test_the_advantage_rises_then_falls(s0: float, rho: float, q: float) -> None:
    peak = peak_depth(s0, rho, q)
    after = [advantage(d, s0, rho, q) for d in range(peak, 64)]
    assert all(b <= a + 1e-12 for a, b in pairwise(after))


def test_work() -> None:
    assert traversal_work(3) == 3
    assert similarity_hitting_time(3, **SYNTHETIC) == pytest.approx(1 / 0.0310, rel=0.01)
    assert similarity_hitting_time(200, **SYNTHETIC) == math.inf
    assert phase_boundary(2, [0.67, 1.0], 0.7, 0.97) == [
        pytest.approx(0.7935, abs=1e-3),
        pytest.approx(0.97**2 - 0.49),
    ]


@given(st.integers(1, 6), st.integers(6, 500))
def test_scatter(sigma: int, items: int) -> None:
    assert location_bits(sigma, items) == pytest.approx(
        math.log2(math.comb(items, sigma)), abs=1e-6
    )
    assert location_bits(sigma, items) >= sigma * math.log2(items / sigma) - 1e-6
    assert assembly(sigma, 0.92) == pytest.approx(0.92**sigma)
    assert probes(sigma, 0.5) == 2 * sigma
    assert recall_after_both(1, sigma, 1.0, 0.9) == pytest.approx(assembly(sigma, 0.9))


def test_floors_of_pools_tasks_and_learning() -> None:
    assert pool_floor(0, 1024) == pytest.approx(0.9)
    assert pool_floor(20, 1024) == 0
    assert regret_floor([0.1, 0.5]) == pytest.approx(0.6)
    assert learning_cost(10, 0.1, 0.05) == pytest.approx((10 + math.log(20)) / 0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: similarity_ceiling(0, 0.5, 0.5),
        lambda: similarity_ceiling(1, 1.5, 0.5),
        lambda: bayes_floor([[0.5, 0.2]]),
        lambda: fano_floor(3, 2),
        lambda: location_bits(5, 4),
        lambda: assembly(0.5, 0.5),
        lambda: pool_floor(0, 1),
        lambda: regret_floor([2.0]),
        lambda: learning_cost(1, 0, 0.1),
        lambda: recall_after_both(1, 1, 0, 1),
        lambda: compression_ceiling(-1, 4),
    ],
)
def test_what_makes_no_sense_is_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=r"expected|probability"):
        call()


def test_every_law_says_where_it_stands() -> None:
    found = {law.name: law for law in laws()}
    assert found["similarity_ceiling"].standing == "under-identified"
    assert found["traversal_recall"].standing == "proven"
    assert found["advantage"].standing == "calibrated"
    assert all(law.source and law.unit and law.meaning.endswith(".") for law in found.values())
    assert len(found) == 22
