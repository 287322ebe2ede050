from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from plugins.recipes.depth._orders import order_agreement


def test_agreement_of_two_orders_is_kendalls_tau_b_of_the_means() -> None:
    rng = np.random.default_rng(3)
    a = (rng.random((6, 120)) < np.linspace(0.1, 0.8, 6)[:, None]).astype(float)
    a[1] = a[0]  # a tie
    b = (rng.random((6, 120)) < np.linspace(0.3, 0.6, 6)[:, None]).astype(float)
    clusters = [f"c{i // 6}" for i in range(120)]
    found = order_agreement(a, b, clusters, seed=1)
    expected = stats.kendalltau(a.mean(axis=1), b.mean(axis=1)).statistic
    assert found.mean == pytest.approx(expected)
    assert (found.n, found.n_clusters) == (120, 20)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.mean <= found.high
    # The limits are those of tau-b of resampled clusters, one by one.
    taus = []
    for _ in range(400):
        drawn = rng.integers(0, 20, 20)
        cases = np.concatenate([np.arange(6 * c, 6 * c + 6) for c in drawn])
        taus.append(stats.kendalltau(a[:, cases].mean(1), b[:, cases].mean(1)).statistic)
    assert found.low == pytest.approx(np.quantile(taus, 0.025), abs=0.15)


def test_agreement_without_limits() -> None:
    a = np.array([[1.0] * 12, [0.0] * 12])
    same = order_agreement(a, a, [None] * 12, seed=1)
    assert (same.mean, same.low, same.method) == (
        1.0,
        None,
        "no interval: the same in every resample",
    )
    few = order_agreement(a, a, ["one"] * 6 + ["other"] * 6, seed=1)
    assert (few.mean, few.method) == (1.0, "no interval: 2 clusters, fewer than 10")
    tied = order_agreement(a, np.zeros((2, 12)), [None] * 12, seed=1)
    assert (tied.mean, tied.method) == (None, "undefined: all arms tie")
    with pytest.raises(ValueError, match="two or more arms"):
        order_agreement(a[:1], a[:1], [None] * 12, seed=1)
    with pytest.raises(ValueError, match="11 cluster labels for 12 values"):
        order_agreement(a, a, [None] * 11, seed=1)
