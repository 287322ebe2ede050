from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.ratios import (
    bootstrap_ratios,
    ratio_difference,
    ratio_of_means,
)


def test_delta_method_against_a_bootstrap() -> None:
    rng = np.random.default_rng(1)
    kept = (rng.random(400) < 0.7).astype(float)
    used = kept * (rng.random(400) < 0.8)
    found = ratio_of_means(used, kept)
    drawn = rng.integers(0, 400, size=(4000, 400))
    spread = (used[drawn].mean(axis=1) / kept[drawn].mean(axis=1)).std()
    assert found.value == pytest.approx(used.sum() / kept.sum())
    assert found.se == pytest.approx(spread, rel=0.05)
    assert found.method == "delta method"


def test_covariance_narrows_what_independence_leaves_wide() -> None:
    rng = np.random.default_rng(2)
    kept = (rng.random(300) < 0.6).astype(float)
    used = kept * (rng.random(300) < 0.9)
    paired = ratio_of_means(used, kept)
    p, q = used.mean(), kept.mean()
    # The delta method on the logarithm of two independent rates (Katz 1978).
    apart = p / q * ((1 - p) / (300 * p) + (1 - q) / (300 * q)) ** 0.5
    assert paired.value == pytest.approx(p / q)
    assert (paired.se or 0) < apart


@pytest.mark.parametrize(
    ("numerator", "denominator", "method"),
    [
        ([], [], "undefined: no cases"),
        ([None, 1.0], [1.0, None], "undefined: no cases"),
        ([1.0] * 12, [0.0] * 12, "undefined: the denominator is 0"),
        ([1.0, 0.0], [1.0, 1.0], "no interval: 2 units, fewer than 10"),
        ([0.5] * 12, [1.0] * 12, "no interval: numerator and denominator are proportional"),
    ],
)
def test_refusals(
    numerator: list[float | None], denominator: list[float | None], method: str
) -> None:
    found = ratio_of_means(numerator, denominator)
    assert (found.low, found.high, found.method) == (None, None, method)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 1)), min_size=10, max_size=30))
def test_scale_and_order_do_not_matter(pairs: list[tuple[float, float]]) -> None:
    top, bottom = (np.array(v) for v in zip(*pairs, strict=True))
    found = ratio_of_means(top, bottom)
    other = ratio_of_means(3 * top[::-1], 3 * bottom[::-1])
    assert other.value == pytest.approx(found.value)
    if found.se is not None and found.se > 1e-9:
        assert other.se == pytest.approx(found.se)


def _outcomes(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (rng.random(n) < 0.4).astype(float), rng.integers(800, 1600, n).astype(float)


def test_the_bootstrap_agrees_with_the_delta_method() -> None:
    right, tokens = _outcomes(400, 3)
    found = bootstrap_ratios(right, {"tokens": tokens}, seed=7)["tokens"]
    delta = ratio_of_means(right, tokens)
    assert (found.value, found.se) == (delta.value, delta.se)
    assert found.method == "bca bootstrap"
    assert found.low == pytest.approx(delta.low, rel=0.02)
    assert found.high == pytest.approx(delta.high, rel=0.02)


def test_from_many_units_on_the_delta_method_is_taken() -> None:
    right, tokens = _outcomes(2000, 4)
    found = bootstrap_ratios(right, {"tokens": tokens}, seed=7)["tokens"]
    expected = ratio_of_means(right, tokens)
    assert found == expected
    assert found.method == "delta method"


def test_clusters_are_drawn_whole() -> None:
    """Twelve clusters of ten alike cases are twelve units, whatever the number of cases."""
    right, tokens = _outcomes(12, 5)
    labels = [f"c{i}" for i in range(12) for _ in range(10)]
    many = bootstrap_ratios(np.repeat(right, 10), {"t": np.repeat(tokens, 10)}, labels, seed=7)
    few = bootstrap_ratios(right, {"t": tokens}, seed=7)
    assert (many["t"].low, many["t"].high, many["t"].n) == pytest.approx(
        (few["t"].low, few["t"].high, 12)
    )
    assert many["t"].method == "bca bootstrap over clusters"


@pytest.mark.parametrize(
    ("numerator", "denominator", "method"),
    [
        ([None] * 12, [1.0] * 12, "undefined: no cases"),
        ([1.0] * 12, [0.0] * 12, "undefined: the denominator is 0"),
        ([1.0, 0.0], [1.0, 1.0], "no interval: 2 units, fewer than 10"),
        ([0.5] * 12, [1.0] * 12, "no interval: numerator and denominator are proportional"),
        ([1.0, 0.0] * 6, [0.0] + [1.0] * 11, "no interval: a denominator is 0"),
    ],
)
def test_refusals_of_the_bootstrap(
    numerator: list[float | None], denominator: list[float], method: str
) -> None:
    found = bootstrap_ratios(numerator, {"": denominator}, seed=1)[""]
    assert (found.low, found.high, found.method) == (None, None, method)


@given(st.permutations(range(14)), st.floats(0.01, 100))
def test_order_other_columns_and_scale_do_not_matter(order: list[int], scale: float) -> None:
    right, tokens = _outcomes(14, 6)
    alone = bootstrap_ratios(right, {"t": tokens}, seed=2, resamples=200)["t"]
    both = bootstrap_ratios(
        right[order], {"s": scale * tokens[order], "t": tokens[order]}, seed=2, resamples=200
    )
    assert (both["t"].value, both["t"].method) == (pytest.approx(alone.value), alone.method)
    for got, limit in ((both["s"].low, alone.low), (both["s"].high, alone.high)):
        assert got is not None
        assert limit is not None
        assert got * scale == pytest.approx(limit)


def test_a_difference_of_ratios_is_paired() -> None:
    """One arm succeeds where the other does and at every fifth case: what they share drops out."""
    right, tokens = _outcomes(60, 8)
    more = np.minimum(1.0, right + (np.arange(60) % 5 == 0))
    found = ratio_difference(more, tokens, right, tokens, seed=3)
    assert found.delta == pytest.approx(more.sum() / tokens.sum() - right.sum() / tokens.sum())
    assert (found.a, found.b) == (more.sum() / tokens.sum(), right.sum() / tokens.sum())
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.delta <= found.high
    apart = ratio_of_means(more, tokens), ratio_of_means(right, tokens)
    unpaired = 2 * 1.96 * float(np.hypot(*(r.se or 0.0 for r in apart)))
    assert found.high - found.low < unpaired
    same = ratio_difference(right, tokens, right, tokens, seed=3)
    assert (same.delta, same.low, same.method) == (
        0.0, None, "no interval: all differences are equal",
    )  # fmt: skip


def test_a_difference_turned_round_changes_sign() -> None:
    right, tokens = _outcomes(40, 9)
    other, spent = _outcomes(40, 10)
    there = ratio_difference(right, tokens, other, spent, seed=4)
    back = ratio_difference(other, spent, right, tokens, seed=4)
    assert back.delta == pytest.approx(-(there.delta or 0))
    assert there.n == there.n_units == 40


def test_a_difference_counts_the_cases_that_both_define() -> None:
    found = ratio_difference([1.0, None], [2.0, 1.0], [1.0, 1.0], [4.0, 1.0], seed=1)
    assert (found.a, found.b, found.delta, found.n) == (0.5, 0.25, 0.25, 1)
    assert found.method == "no interval: 1 units, fewer than 10"


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 99), st.integers(0, 4)), min_size=1))
def test_with_clusters_of_any_size_it_is_the_ratio_of_totals(
    cases: list[tuple[bool, int, int]],
) -> None:
    right = [float(r) for r, _, _ in cases]
    tokens = [float(t) for _, t, _ in cases]
    labels = [str(c) for _, _, c in cases]
    expected = sum(right) / sum(tokens)
    assert ratio_of_means(right, tokens, labels).value == pytest.approx(expected)
    found = bootstrap_ratios(right, {"": tokens}, labels, seed=1, resamples=50)[""]
    assert found.value == pytest.approx(expected)


def test_a_cluster_without_cost_has_a_denominator_of_0_and_no_less() -> None:
    """A large cluster whose cases cost nothing: its part of the cost is 0 and never below."""
    right = [1.0, 0.0] * 12
    tokens = [0.0] * 4 + [100.0] * 20
    labels = ["large"] * 4 + [f"c{i}" for i in range(20)]
    found = bootstrap_ratios(right, {"": tokens}, labels, seed=1)[""]
    assert found.value == pytest.approx(12 / 2000)
    assert found.method == "no interval: a denominator is 0"


def test_clusters_of_unequal_size_count_by_what_they_weigh() -> None:
    """Fourteen clusters of which one holds most cases are worth fewer than ten."""
    rng = np.random.default_rng(0)
    top, bottom = rng.random(100), rng.uniform(0.5, 1.5, 100)
    clusters = [*["big"] * 74, *(f"c{i // 2}" for i in range(26))]
    for found in (
        ratio_of_means(top, bottom, clusters),
        bootstrap_ratios(top, {"x": bottom}, clusters, seed=0)["x"],
    ):
        assert (found.low, found.n) == (None, 14)
        assert found.method == "no interval: 14 clusters of unequal size, worth 1.8, fewer than 10"
    paired = ratio_difference(top, bottom, bottom, bottom, clusters, seed=0)
    assert paired.low is None
