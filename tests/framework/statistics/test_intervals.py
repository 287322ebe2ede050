from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from framework.statistics.clusters import units_of
from framework.statistics.intervals import (
    Interval,
    clopper_pearson,
    effective_wilson,
    mean_interval,
    mean_intervals,
    wilson,
    within,
)

GRADES = st.sampled_from([0.0, 1 / 6, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])


def limits(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_limits_that_were_cut_off_say_so() -> None:
    assert within((0.2, 1.3, "t"), 0.0) == (0.2, 1.0, "t, cut at the end of the scale")
    assert within((-1.2, 0.3, "t"), -1.0) == (-1.0, 0.3, "t, cut at the end of the scale")
    assert within((-0.2, 0.3, "tango score"), -1.0) == (-0.2, 0.3, "tango score")


def test_published_values() -> None:
    assert wilson(112, 120) == pytest.approx((0.874, 0.966), abs=5e-4)
    assert clopper_pearson(40, 40)[0] == pytest.approx(0.912, abs=5e-4)


@given(n=st.integers(1, 300), data=st.data(), level=st.sampled_from([0.9, 0.95, 0.99]))
def test_proportion_limits_agree_with_scipy(n: int, data: st.DataObject, level: float) -> None:
    successes = data.draw(st.integers(0, n))
    test = stats.binomtest(successes, n)
    for ours, oracle in (
        (wilson(successes, n, level), test.proportion_ci(level, "wilson")),
        (clopper_pearson(successes, n, level), test.proportion_ci(level, "exact")),
    ):
        assert ours == pytest.approx((oracle.low, oracle.high), abs=1e-9)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    for function in (wilson, clopper_pearson):
        with pytest.raises(ValueError, match="successes of"):
            function(successes, n)


def test_binary_axis() -> None:
    interval = mean_interval([1.0] * 112 + [0.0] * 8, seed=0)
    assert interval.method == "wilson"
    assert limits(interval) == wilson(112, 120)
    assert (interval.mean, interval.n, interval.n_clusters) == (112 / 120, 120, None)
    for value in (0.0, 1.0):
        interval = mean_interval([value] * 40, seed=0)
        assert interval.method == "clopper-pearson"
        assert limits(interval) == clopper_pearson(int(40 * value), 40)


def test_graded_axis_is_bootstrapped() -> None:
    values = np.random.default_rng(0).beta(2, 1, size=80)
    interval = mean_interval(values, seed=0)
    oracle = stats.bootstrap((values,), np.mean, n_resamples=10_000, batch=1000, rng=1)
    assert interval.method == "bca bootstrap"
    assert interval.mean == pytest.approx(values.mean())
    expected = (oracle.confidence_interval.low, oracle.confidence_interval.high)
    assert limits(interval) == pytest.approx(expected, abs=0.005)


def test_clusters_are_resampled_whole() -> None:
    rng = np.random.default_rng(0)
    level = np.repeat(rng.random(30), 20)  # all cases of a cluster alike: 30 facts, not 600
    clusters = [f"c{i // 20}" for i in range(600)]
    alone = limits(mean_interval(level, seed=0))
    whole = mean_interval(level, clusters, seed=0)
    assert whole.method == "wilson of the effective sample over clusters"
    assert (whole.n, whole.n_clusters) == (600, 30)
    low, high = limits(whole)
    assert high - low == pytest.approx((alone[1] - alone[0]) * 20**0.5, rel=0.1)


def test_mean_with_clusters_is_the_mean_over_cases() -> None:
    values = [0.5] * 9 + [0.25]
    clusters = [*["big"] * 9, "small"]
    interval = mean_interval(values, clusters, seed=0)
    assert interval.mean == pytest.approx(0.475)
    assert (interval.low, interval.high) == (None, None)
    assert interval.method == "no interval: 2 clusters of unequal size, worth 1.2, fewer than 10"
    assert (interval.n, interval.n_clusters) == (10, 2)


def test_clusters_of_one_case_are_cases() -> None:
    values = [0.0, 1.0, 1.0]
    assert mean_interval(values, ["a", "b", None], seed=0) == mean_interval(values, seed=0)


def test_clusters_all_alike_at_the_boundary() -> None:
    clusters = [f"c{i % 20}" for i in range(60)]
    interval = mean_interval([1.0] * 60, clusters, seed=0)
    assert interval.method == "bounded mean over clusters"
    assert limits(interval) == pytest.approx(clopper_pearson(20, 20))


def test_limits_of_a_share_over_unequal_clusters_are_shares() -> None:
    values = [1.0] * 40 + [0.0, *[1.0] * 29]
    clusters = [*(f"b{i // 4}" for i in range(40)), *(f"c{i}" for i in range(30))]
    interval = mean_interval(values, clusters, seed=0)
    assert interval.mean == pytest.approx(69 / 70)
    low, high = limits(interval)
    assert 0.85 < low < 0.93  # 40 clusters, one of which failed: more is not known
    assert 0.995 < high < 1


def test_one_cluster_that_holds_most_cases_counts_as_one() -> None:
    """16 clusters, 382 of 402 cases in one: `.99 .99-.99` was printed."""
    clusters = [*["big"] * 382, *(f"c{i % 15}" for i in range(20))]
    values = [1.0] * 400 + [0.0] * 2
    interval = mean_interval(values, clusters, seed=0)
    assert (interval.n_clusters, interval.low, interval.high) == (16, None, None)
    assert interval.method == "no interval: 16 clusters of unequal size, worth 1.1, fewer than 10"


def test_nearly_all_alike_is_not_nearly_certain() -> None:
    """One of 402 graded cases differs: a bootstrap would print `1.0-1.0`."""
    interval = mean_interval([1.0] * 401 + [0.5], seed=0)
    low, high = limits(interval)
    assert interval.method == "bounded mean"
    assert low < 0.9913
    assert 0.9988 < high < 1


def test_undefined_cases_do_not_count() -> None:
    values = [1.0, None, 0.0, float("nan"), 1.0]
    interval = mean_interval(values, seed=0)
    assert (interval.n, interval.mean) == (3, 2 / 3)
    assert interval == mean_interval([1.0, 0.0, 1.0], seed=0)
    # An undefined case can leave its twin alone: then there is no cluster of several cases.
    left = mean_interval(values, ["a", "a", "b", "b", "c"], seed=0)
    assert (left.method, left.n_clusters) == ("wilson", None)


@pytest.mark.parametrize("values", [[], [None, None], [float("nan")]])
def test_no_cases(values: list[float | None]) -> None:
    assert mean_interval(values, seed=0) == Interval(
        mean=None, low=None, high=None, n=0, n_clusters=None, method="undefined: no cases"
    )


def test_all_equal_share_gets_exact_limits_not_certainty() -> None:
    interval = mean_interval([0.7] * 40, seed=0)
    assert interval.method == "bounded mean"
    low, high = limits(interval)
    unseen = 1 - 0.025 ** (1 / 40)
    assert low == pytest.approx(0.7 - 0.7 * unseen)
    assert high == pytest.approx(0.7 + 0.3 * unseen)
    (one_low, one_high) = limits(mean_interval([0.7], seed=0))
    assert one_low < 0.02
    assert one_high > 0.99


def test_amounts_are_never_proportions() -> None:
    zero = mean_interval([0.0] * 40, seed=0, amount=True)
    assert (zero.mean, zero.low, zero.method) == (0.0, None, "no interval: all values equal")
    assert mean_interval([335.0] * 40, seed=0).method == "no interval: all values equal"
    assert mean_interval([335.0], seed=0).method == "no interval: one case"
    assert mean_interval([0.0, 1.0] * 20, seed=0, amount=True).method == "bca bootstrap"
    assert mean_interval([100.0, 300.0] * 20, seed=0).method == "bca bootstrap"


@pytest.mark.parametrize(
    "values", [[0.0] * 4, [0.0] * 30, [1.0] + [0.0] * 19, [1.0] * 5 + [0.0] * 15, [1.0] * 12]
)
def test_a_difference_may_fall_below_0_where_no_case_of_the_sample_does(
    values: list[float],
) -> None:
    plain = mean_intervals({"x": values}, seed=0)["x"]
    found = mean_intervals({"x": values}, seed=0, signed=("x",))["x"]
    mirrored = mean_intervals({"x": [-value for value in values]}, seed=0, signed=("x",))["x"]
    low, high = limits(found)
    assert -1 <= low <= found.mean <= high <= 1  # type: ignore[operator]
    assert found.mean == plain.mean
    assert limits(mirrored) == pytest.approx((-high, -low), abs=1e-3)
    if sum(values) < 3:  # the few that are not 0 say nothing of what the others might be
        assert low < 0


def test_differences_over_clusters_stay_on_their_scale() -> None:
    values, clusters = [1.0, 1.0, 1.0, 1.0, 1.0, -1.0] * 4, [f"c{i // 2}" for i in range(24)]
    found = mean_intervals({"x": values}, clusters, seed=0, signed=("x",))["x"]
    low, high = limits(found)
    assert -1 <= low < 0.67 < high <= 1


def test_infinite_values_and_wrong_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        mean_interval([1.0, math.inf], seed=0)
    with pytest.raises(ValueError, match="1 cluster labels for 2 values"):
        mean_interval([1.0, 0.5], ["a"], seed=0)


@settings(max_examples=40, deadline=None)
@given(
    cases=st.lists(
        st.tuples(
            st.one_of(st.none(), GRADES), st.one_of(st.none(), st.sampled_from("abcdefghijklmnop"))
        ),
        max_size=60,
    ),
    random=st.randoms(use_true_random=False),
)
def test_order_of_cases_does_not_matter(
    cases: list[tuple[float | None, str | None]], random: object
) -> None:
    shuffled = list(cases)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    def interval(of: list[tuple[float | None, str | None]]) -> Interval:
        return mean_interval([v for v, _ in of], [c for _, c in of], seed=4, resamples=500)

    result = interval(cases)
    assert interval(shuffled) == result
    if result.low is not None and result.high is not None and result.mean is not None:
        assert 0 <= result.low <= result.high <= 1
        assert result.low <= result.mean <= result.high or "bootstrap" in result.method


def test_order_of_clusters_that_begin_alike_does_not_matter() -> None:
    # Every cluster holds a 0, so its place among the cases can't order it.
    cases = [(value, f"c{i}") for i in range(15) for value in (0.0, i / 15)]
    forth = mean_interval([v for v, _ in cases], [c for _, c in cases], seed=1)
    cases.reverse()
    back = mean_interval([v for v, _ in cases], [c for _, c in cases], seed=1)
    assert forth == back
    assert forth.method == "wilson of the effective sample over clusters"


def test_an_axis_does_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(0)
    axes = {f"axis_{i}": rng.random(50).tolist() for i in range(5)}
    axes["binary"] = [0.0, 1.0] * 25
    axes["holes"] = [None if i % 3 else 0.1 * (i % 7) for i in range(50)]
    together = mean_intervals(axes, seed=9)
    assert list(together) == list(axes)
    for name, values in axes.items():
        assert mean_interval(values, seed=9) == together[name]
    assert mean_interval(axes["axis_0"], seed=10) != together["axis_0"]


def test_a_few_cases_that_weigh_little_have_wide_limits_and_raise_nothing() -> None:
    """Cases of which only some trials define the axis, in which nearly all of them agree."""
    values, weights = np.array([1.0, 0.0, 1.0]), np.array([0.1, 0.1, 0.9])
    low, high, method = effective_wilson(units_of(values, None, weights), 0.95)
    assert method == "wilson of the effective sample"
    assert 0 <= low < 0.2
    assert 0.9 < high <= 1
