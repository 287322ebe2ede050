from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from framework.statistics.bootstrap import LARGE
from framework.statistics.permutation import sign_flip_test

RNG = np.random.default_rng(0)
GRADES = st.sampled_from([-1.0, -0.5, -1 / 3, -0.1, 0.0, 0.1, 1 / 3, 0.5, 1.0])


@settings(deadline=None)
@given(st.lists(GRADES, min_size=1, max_size=10))
def test_exact_equals_brute_force(differences: list[float]) -> None:
    observed = abs(sum(differences))
    patterns = list(product((1, -1), repeat=len(differences)))
    hits = sum(
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed - 1e-9
        for signs in patterns
    )
    result = sign_flip_test(np.array(differences), RNG)
    assert result.method == "exact"
    assert result.p == pytest.approx(hits / len(patterns))
    assert result.smallest_p == 2.0 ** (1 - len(differences))


def test_agrees_with_scipy() -> None:
    differences = np.random.default_rng(1).normal(0.25, 1, size=60)
    ours = sign_flip_test(differences, np.random.default_rng(2), draws=40_000)
    oracle = stats.permutation_test(
        (differences,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=40_000,
        batch=1000,
        vectorized=True,
        rng=3,
    )
    assert ours.p == pytest.approx(oracle.pvalue, abs=0.01)
    assert 0.01 < oracle.pvalue < 0.5


def test_twenty_cases_are_counted_not_drawn() -> None:
    differences = np.linspace(0.1, 2.0, 20)
    result = sign_flip_test(differences, RNG)
    assert (result.p, result.smallest_p, result.method) == (2.0**-19, 2.0**-19, "exact")


def test_monte_carlo_adds_one() -> None:
    result = sign_flip_test(np.linspace(0.1, 2.0, 60), RNG, draws=999)
    assert result.method == "monte carlo (999 draws)"
    assert result.p == result.smallest_p == 1 / 1000
    few = sign_flip_test(np.linspace(0.1, 2.0, 21), RNG, draws=10_000_000 // 100)
    assert few.smallest_p == 1 / 100_001


def test_monte_carlo_agrees_with_the_exact_count() -> None:
    # 40 differences in multiples of 1/4: exact by convolving their sums.
    quarters = np.random.default_rng(5).integers(-3, 5, size=40)
    counts = np.ones(1)
    for size in np.abs(quarters):
        step = np.zeros(2 * size + 1)
        step[0] += 0.5
        step[-1] += 0.5
        counts = np.convolve(counts, step)
    sums = np.arange(len(counts)) - np.abs(quarters).sum()
    exact = counts[np.abs(sums) >= abs(quarters.sum())].sum()
    ours = sign_flip_test(quarters / 4, np.random.default_rng(1), draws=100_000)
    assert ours.method.startswith("monte carlo")
    assert ours.p == pytest.approx(exact, abs=5 * (exact / 100_000) ** 0.5)


@given(wins=st.integers(0, 40), losses=st.integers(0, 40), ties=st.integers(0, 100))
def test_on_binary_axes_it_is_mcnemars_exact_test(wins: int, losses: int, ties: int) -> None:
    differences = np.array([1.0] * wins + [-1.0] * losses + [0.0] * ties)
    if len(differences) == 0:
        return
    result = sign_flip_test(differences, RNG)
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert result.method == "exact"
    assert result.p == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-5, 5), max_size=40))
def test_p_lies_between_its_smallest_and_one(differences: list[float]) -> None:
    result = sign_flip_test(np.array(differences), RNG, draws=200)
    if not differences:
        assert (result.p, result.smallest_p) == (None, None)
        assert result.method == "undefined: no cases"
        return
    assert result.p is not None
    assert result.smallest_p is not None
    assert result.smallest_p * (1 - 1e-12) <= result.p <= 1


def test_no_difference_at_all() -> None:
    result = sign_flip_test(np.zeros(50), RNG)
    assert (result.p, result.method) == (1.0, "exact")


def test_false_positives_keep_to_alpha() -> None:
    rng = np.random.default_rng(11)
    rejected = sum((sign_flip_test(rng.normal(size=12), rng).p or 0) <= 0.05 for _ in range(1000))
    assert 25 <= rejected <= 78  # 50 expected, four standard deviations


def test_many_units_of_few_sizes_are_drawn_by_their_counts() -> None:
    rng = np.random.default_rng(7)
    differences = rng.choice([-0.5, -0.25, 0.25, 0.5], size=2 * LARGE, p=[0.24, 0.25, 0.25, 0.26])
    by_counts = sign_flip_test(differences, np.random.default_rng(1), draws=40_000)
    # Sizes of their own keep the other path: the same p but for the draws.
    apart = differences + np.sign(differences) * rng.random(2 * LARGE) * 1e-9
    by_signs = sign_flip_test(apart, np.random.default_rng(2), draws=4_000)
    assert 0.05 < (by_counts.p or 0) < 0.95
    assert by_counts.p == pytest.approx(by_signs.p, abs=0.03)
    assert by_counts.method == "monte carlo (40000 draws)"
