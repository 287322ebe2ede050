from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from framework.statistics.proportions import mcnemar_p
from plugins.commands.pilot import (
    cases_needed,
    sign_test_power,
)


@pytest.mark.parametrize(
    ("n", "effect", "discordance"), [(10, 0.6, 0.6), (60, 0.2, 0.35), (200, 0.1, 0.3)]
)
def test_power_of_the_sign_test_by_enumeration(n: int, effect: float, discordance: float) -> None:
    win = (1 + effect / discordance) / 2
    power = 0.0
    for d in range(n + 1):
        reject = sum(
            stats.binom.pmf(w, d, win) for w in range(d + 1) if mcnemar_p(w, d - w) <= 0.05
        )
        power += stats.binom.pmf(d, n, discordance) * reject
    assert sign_test_power(n, effect, discordance) == pytest.approx(power, abs=1e-9)


def test_cases_needed_reach_the_power_and_fewer_do_not() -> None:
    found = cases_needed(0.1, 0.3, binary=True)
    assert found.method == "exact sign test"
    assert found.n is not None
    assert sign_test_power(found.n, 0.1, 0.3) >= 0.8 > sign_test_power(found.n - 15, 0.1, 0.3)


def test_graded_cases_by_simulation() -> None:
    found = cases_needed(0.05, 0.04 + 0.05**2, binary=False)
    assert found.n is not None
    rng = np.random.default_rng(1)
    drawn = rng.normal(0.05, 0.2, size=(4000, found.n))
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / math.sqrt(found.n))
    assert np.mean(np.abs(t) > stats.t.ppf(0.975, found.n - 1)) == pytest.approx(0.8, abs=0.02)


@given(st.floats(0.02, 0.5), st.floats(0, 1))
def test_laws(effect: float, spread: float) -> None:
    found = cases_needed(effect, spread, binary=True)
    assert found.spread >= effect
    harder = cases_needed(effect, spread, binary=True, comparisons=10)
    assert found.n is not None
    assert harder.n is not None
    assert harder.n >= found.n


def test_refusals() -> None:
    for wrong in (0.0, -0.1, float("nan"), 1.5):
        with pytest.raises(ValueError, match="smallest effect"):
            cases_needed(wrong, 0.3, binary=True)
    with pytest.raises(ValueError, match="discordance"):
        cases_needed(0.1, 1.3, binary=True)
    assert cases_needed(1e-4, 0.5, binary=False).method == "more than 10,000,000 cases"
    with pytest.raises(ValueError, match="effect"):
        sign_test_power(10, 0.5, 0.2)
