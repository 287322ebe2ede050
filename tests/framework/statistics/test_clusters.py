from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from framework.statistics.clusters import Units, cluster_robust, t_limits, units_of


def test_cases_of_one_size_count_as_they_are_and_one_large_cluster_as_one() -> None:
    assert Units(np.zeros(12), np.full(12, 8.0)).effective == pytest.approx(12)
    eips = Units(np.zeros(16), np.array([382.0, *[1.0] * 10, *[2.0] * 5]))
    assert eips.effective == pytest.approx(1.1, abs=0.01)
    assert "worth 1.1" in eips.too_few
    assert not Units(np.zeros(5), np.ones(5)).too_few  # cases are no clusters


def test_the_closed_form_is_the_matrix_form() -> None:
    """Bell and McCaffrey's adjustment, residual matrix and all, on the constant alone."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 20, 15).astype(np.float64)
    sums, n = rng.random(15) * sizes, sizes.sum()
    adjust = np.diag((1 - sizes / n) ** -0.5)
    residual = adjust @ (np.eye(15) - np.outer(sizes, np.ones(15)) / n)
    freedom = []
    for assumed in (sizes, sizes**2):
        p = residual @ np.diag(assumed) @ residual.T
        freedom.append(np.trace(p) ** 2 / np.trace(p @ p))
    variance, found = cluster_robust(Units(sums, sizes))
    assert found == pytest.approx(min(freedom))
    assert variance == pytest.approx(np.sum((residual @ sums) ** 2) / n**2)


def test_with_one_size_it_is_the_t_test_of_the_clusters_means() -> None:
    means = np.random.default_rng(1).random(14)
    low, high, method = t_limits(Units(means * 5, np.full(14, 5.0)), 0.95)
    oracle = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((oracle.low, oracle.high))
    assert method == "cr2 t"


def test_what_stands_alone_is_a_unit_of_its_own() -> None:
    units = units_of(np.array([1.0, 0.0, 1.0, 0.5]), ["x", None, "x", None])
    assert (units.sums.tolist(), units.sizes.tolist()) == ([2.0, 0.0, 0.5], [2.0, 1.0, 1.0])
    assert units.differing == 2
    assert not units_of(np.array([1.0, 0.0]), ["x", None]).clustered
    with pytest.raises(ValueError, match="3 cluster labels for 2 values"):
        units_of(np.array([1.0, 0.0]), ["x", "y", "z"])
