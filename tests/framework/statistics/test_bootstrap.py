from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from framework.statistics.bootstrap import (
    LARGE,
    bca_limits,
    bootstrap_means,
    percentile_limits,
    unit_sums,
    unit_values,
)


def test_limits_agree_with_scipy() -> None:
    values = np.random.default_rng(3).exponential(size=60)
    (means,) = bootstrap_means([values], np.random.default_rng(1), 40_000)
    oracles: tuple[tuple[Literal["percentile", "BCa"], tuple[float, float] | None], ...] = (
        ("percentile", percentile_limits(means, 0.95)),
        ("BCa", bca_limits(values, means, 0.95)),
    )
    for method, limits in oracles:
        oracle = stats.bootstrap(
            (values,), np.mean, n_resamples=40_000, method=method, batch=1000, rng=2
        ).confidence_interval
        assert limits == pytest.approx((oracle.low, oracle.high), abs=0.01)
    assert percentile_limits(means, 0.95) != pytest.approx(
        bca_limits(values, means, 0.95), abs=0.01
    )


def test_bca_equals_scipy_on_the_same_resamples() -> None:
    values = np.random.default_rng(3).exponential(size=30)
    oracle = stats.bootstrap((values,), np.mean, n_resamples=5000, method="BCa", rng=2)
    ours = bca_limits(values, oracle.bootstrap_distribution, 0.95)
    limits = oracle.confidence_interval
    assert ours == pytest.approx((limits.low, limits.high), abs=1e-9)


def test_resampled_means_have_the_moments_of_the_bootstrap() -> None:
    values = np.array([0.0, 1.0, 5.0])
    (means,) = bootstrap_means([values], np.random.default_rng(0), 100_000)
    assert means.mean() == pytest.approx(2.0, abs=0.02)
    assert means.var() == pytest.approx(values.var() / 3, rel=0.02)
    assert len(np.unique(np.round(means, 9))) == 10  # multisets of 3 out of 3


def test_columns_share_draws_and_do_not_disturb_each_other() -> None:
    x, y = np.random.default_rng(0).random((2, 300))
    together = bootstrap_means([x, y, 2 * x], np.random.default_rng(5), 1500)
    (alone,) = bootstrap_means([y], np.random.default_rng(5), 1500)
    assert np.array_equal(together[1], alone)
    assert np.allclose(together[2], 2 * together[0], rtol=1e-12)


def test_more_units_than_a_batch_holds() -> None:
    values = np.arange(300_000.0)
    (means,) = bootstrap_means([values], np.random.default_rng(0), 3)
    assert np.all(np.abs(means - values.mean()) < 5 * values.std() / 300_000**0.5)


def test_bca_is_undefined_where_nothing_varies_or_all_is_on_one_side() -> None:
    same = np.full(5, 0.3)
    assert bca_limits(same, np.full(100, 0.3), 0.95) is None
    assert bca_limits(np.array([0.0, 1.0]), np.full(100, 0.9), 0.95) is None


def test_ties_with_the_estimate_count_half() -> None:
    # Symmetric values, so no bias and no acceleration: BCa is the percentile interval.
    values = np.array([-1.0, 0.0, 1.0])
    means = np.array([-1, -2 / 3, -1 / 3, 0.0, 0.0, 0.0, 1 / 3, 2 / 3, 1]) + 1e-16
    assert bca_limits(values, means, 0.95) == pytest.approx(percentile_limits(means, 0.95))


def test_unit_values() -> None:
    values = np.array([1.0, 2.0, 3.0, 7.0])
    units, clustered = unit_values(values, ["x", None, "x", None])
    assert clustered
    # 3.25 is the mean over cases, 4 / 3 the mean size: 3.25 + (4 - 2 * 3.25) * 3 / 4 and so on.
    assert units.tolist() == [1.375, 2.3125, 6.0625]
    assert unit_sums(values, ["x", None, "x", None]).tolist() == [3.0, 1.5, 5.25]
    units, clustered = unit_values(values, ["x", "x", "y", "y"])
    assert clustered
    assert units.tolist() == [1.5, 5.0]  # of one size: the clusters' means
    for alone in (None, ["p", "q", None, None]):
        units, clustered = unit_values(values, alone)
        assert not clustered
        assert units.tolist() == values.tolist()
    with pytest.raises(ValueError, match="3 cluster labels for 4 values"):
        unit_values(values, ["a", "b", "c"])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=30),
)
def test_units_have_the_mean_of_the_cases(cases: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in cases])
    labels = [str(label) for _, label in cases]
    assert unit_values(values, labels)[0].mean() == pytest.approx(values.mean())
    assert unit_sums(values, labels).mean() == pytest.approx(values.mean())


def test_the_limits_of_a_mean_over_clusters_are_those_of_a_ratio() -> None:
    """The linearised units' bootstrap against resampling clusters and dividing sums by sizes."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 12, size=60)
    labels = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    rates = rng.beta(2, 2, size=60)
    values = np.array([float(rng.random() < rates[int(label)]) for label in labels])
    sums = np.array([values[np.array(labels) == str(i)].sum() for i in range(60)])
    drawn = rng.integers(0, 60, size=(20_000, 60))
    wanted = percentile_limits(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), 0.95)
    units, _ = unit_values(values, labels)
    (means,) = bootstrap_means([units], np.random.default_rng(1))
    assert percentile_limits(means, 0.95) == pytest.approx(wanted, abs=0.01)


def test_many_units_of_few_values_are_drawn_by_their_counts() -> None:
    """The same distribution as drawing unit by unit, which a second column enforces."""
    values = np.random.default_rng(5).choice([0.0, 0.25, 1.0], size=LARGE, p=[0.2, 0.5, 0.3])
    (by_counts,) = bootstrap_means([values], np.random.default_rng(1), 20_000)
    by_units, _ = bootstrap_means([values, values], np.random.default_rng(2), 2_000)
    assert by_counts.mean() == pytest.approx(values.mean(), abs=3e-4)
    assert by_counts.std() == pytest.approx(values.std() / LARGE**0.5, rel=0.02)
    assert stats.ks_2samp(by_counts, by_units).pvalue > 1e-3
    order = np.random.default_rng(3).permutation(LARGE)
    (shuffled,) = bootstrap_means([values[order]], np.random.default_rng(1), 20_000)
    assert np.array_equal(by_counts, shuffled)
