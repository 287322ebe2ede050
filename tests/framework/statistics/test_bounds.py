from __future__ import annotations

from math import lgamma, log

import numpy as np
import pytest

from framework.statistics.bounds import decision_bounds
from framework.statistics.intervals import Interval, clopper_pearson
from framework.statistics.proportions import tango_limits


def bootstrap(n: int, n_clusters: int | None = None, **limits: float | None) -> Interval:
    values = {"low": -0.01, "high": 0.01} | limits
    return Interval(mean=0.0, n=n, n_clusters=n_clusters, method="bootstrap", **values)


def test_zero_discordance_is_exact() -> None:
    for n, clears in ((71, False), (72, True)):
        bounds = decision_bounds(np.zeros(n), bootstrap(n), share=True)
        assert bounds.method == "exact (all differences equal)"
        assert bounds.low == pytest.approx(-(1 - 0.025 ** (1 / n)))
        assert bounds.high == pytest.approx(1 - 0.025 ** (1 / n))
        assert bounds.low is not None
        assert (bounds.low > -0.05) is clears


def test_one_loss_is_no_better_than_none() -> None:
    one_lost = np.array([-1.0] + [0.0] * 71)
    binary = decision_bounds(one_lost, bootstrap(72), share=True)
    graded = decision_bounds(one_lost / 6, bootstrap(72), share=True)
    for bounds in (binary, graded):
        assert bounds.low is not None
        assert bounds.low < -0.06
    assert binary.method == "tango score"
    assert (binary.low, binary.high) == tango_limits(0, 1, 72)
    assert graded.method == "clopper-pearson of losses (few differ)"
    assert graded.low == -clopper_pearson(1, 72)[1]
    assert graded.high == clopper_pearson(0, 72)[1]


def test_the_bootstrap_serves_where_ten_units_differ() -> None:
    differences = np.linspace(-0.5, 0.45, 10)
    assert decision_bounds(differences, bootstrap(10), share=True) == bootstrap(10)
    assert decision_bounds(100 * differences, bootstrap(10), share=False) == bootstrap(10)
    assert decision_bounds(differences, bootstrap(90, 10), share=True) == bootstrap(90, 10)


def test_a_binary_limit_passes_zero_only_with_the_exact_sign_test() -> None:
    for wins, excludes in ((4, False), (5, False), (6, True)):  # 2^(1-6) is below .05
        differences = np.array([1.0] * wins + [0.0] * 34)
        low = decision_bounds(differences, bootstrap(34 + wins), share=True).low
        high = decision_bounds(-differences, bootstrap(34 + wins), share=True).high
        assert low is not None
        assert high == -low
        assert (low > 0) is excludes
        assert tango_limits(wins, 0, 34 + wins)[0] > 0


def test_amounts_with_few_differences_have_no_bound() -> None:
    bounds = decision_bounds(np.array([5.0, 0, 0, 7.0]), bootstrap(4), share=False)
    assert (bounds.low, bounds.high) == (None, None)
    assert bounds.method == "no bound: 2 units differ, fewer than 10"


def test_nothing_is_added_where_no_interval_is_claimed() -> None:
    few = bootstrap(40, 4, low=None, high=None)
    assert decision_bounds(np.zeros(4), few, share=True) == few
    none = bootstrap(0, low=None, high=None)
    assert decision_bounds(np.array([]), none, share=True) == none


@pytest.mark.parametrize("gain", [0.0, 0.01, 0.05])
def test_an_arm_worse_by_the_margin_passes_at_most_one_time_in_forty(gain: float) -> None:
    n, margin = 72, 0.05
    loss = gain + margin
    passed = 0.0
    for wins in range(int(gain > 0) * 25 + 1):
        for losses in range(40):
            ties = n - wins - losses
            logarithm = lgamma(n + 1) - sum(lgamma(k + 1) for k in (wins, losses, ties))
            logarithm += losses * log(loss) + ties * log(1 - gain - loss)
            probability = np.exp(logarithm + (wins * log(gain) if wins else 0.0))
            if probability < 1e-7:
                continue
            differences = np.array([1.0] * wins + [-1.0] * losses + [0.0] * ties)
            low = decision_bounds(differences, bootstrap(n), share=True).low
            assert low is not None
            passed += probability * (low > -margin)
    assert 0.01 < passed <= 0.025
