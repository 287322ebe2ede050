from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from framework.statistics.bounded import bounded_limits, chance_below
from framework.statistics.clusters import Units
from framework.statistics.intervals import clopper_pearson


@given(n=st.integers(1, 500), part=st.floats(0, 1), level=st.sampled_from([0.8, 0.95, 0.99992]))
@settings(max_examples=60, deadline=None)
def test_of_binary_values_they_are_clopper_and_pearsons(n: int, part: float, level: float) -> None:
    k = round(part * n)
    units = Units(np.array([1.0] * k + [0.0] * (n - k)), np.ones(n))
    assert bounded_limits(units, level) == pytest.approx(clopper_pearson(k, n, level), abs=1e-7)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_of_units_all_alike_they_are_what_is_left_unseen(value: float) -> None:
    unseen = 1 - 0.025 ** (1 / 40)
    low, high = bounded_limits(Units(np.full(40, value), np.ones(40)), 0.95)
    assert (low, high) == pytest.approx((value - unseen * value, value + unseen * (1 - value)))


def test_probabilities_are_exact_however_small() -> None:
    for a, b, at in ((6, 36, 0.4), (3, 100, 0.3), (1, 12, 0.9)):
        values = np.array([1 - at, -at])  # a gamma over the sum of two is a beta variate
        found = chance_below(values, np.array([a, b], dtype=np.float64))
        assert found == pytest.approx(stats.beta.cdf(at, a, b), rel=1e-9)
        turned = chance_below(-values, np.array([a, b], dtype=np.float64))
        assert turned == pytest.approx(stats.beta.sf(at, a, b), rel=1e-9)


def test_probabilities_of_many_values_are_those_of_simulation() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(-0.3, 1, 6)
    drawn = rng.exponential(size=(400_000, 6)) @ values
    assert chance_below(values, np.ones(6)) == pytest.approx(np.mean(drawn <= 0), abs=0.003)
    assert chance_below(np.array([0.3, -0.5, 0.0, 0.0]), np.ones(4)) == pytest.approx(0.625)
    assert chance_below(np.array([0.3, 0.0]), np.ones(2)) == 0.0
    assert chance_below(np.zeros(3), np.ones(3)) == 1.0


def test_many_units_lose_a_thousandth_at_most() -> None:
    values = np.random.default_rng(0).uniform(-0.5, 0.6, 2500)
    whole = bounded_limits(Units(values, np.ones(2500)), 0.95, lowest=-1.0)
    part = bounded_limits(Units(values[:2000], np.ones(2000)), 0.95, lowest=-1.0)
    assert whole[1] - whole[0] < part[1] - part[0]
    assert whole[0] == pytest.approx(values.mean() - 1.96 * values.std() / 50, abs=0.003)
