from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from framework.statistics.effects import cohens_h
from framework.statistics.proportions import (
    mcnemar,
    mcnemar_p,
    tango_limits,
)


@pytest.mark.parametrize(
    ("wins", "losses", "p"), [(11, 1, 0.0063), (10, 2, 0.0386), (43, 13, 7.33e-5)]
)
def test_mcnemar_published_values(wins: int, losses: int, p: float) -> None:
    assert mcnemar_p(wins, losses) == pytest.approx(p, rel=0.01)
    assert mcnemar_p(losses, wins) == mcnemar_p(wins, losses)


@given(wins=st.integers(0, 300), losses=st.integers(0, 300))
def test_mcnemar_agrees_with_scipy(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert mcnemar_p(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_records_how_it_binarised() -> None:
    binary = mcnemar(np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 0, 1]))
    assert (binary.wins, binary.losses, binary.p) == (1, 1, 1.0)
    assert (binary.binarisation, binary.smallest_p) == ("as is", 0.125)
    graded = mcnemar(np.array([0.5, 0.9]), np.array([0.49, 0.1]))
    assert (graded.wins, graded.losses) == (2, 0)
    assert graded.binarisation == ">= 0.5 (published convention)"


def test_mcnemar_refuses_what_has_no_successes() -> None:
    tokens = mcnemar(np.array([120.0, 80.0]), np.array([100.0, 90.0]))
    assert (tokens.p, tokens.binarisation) == (None, "undefined: values outside [0, 1]")
    dollars = mcnemar(np.array([0.6]), np.array([0.1]), amount=True)
    assert (dollars.p, dollars.binarisation) == (None, "undefined: an amount")
    empty = mcnemar(np.array([]), np.array([]))
    assert (empty.p, empty.binarisation) == (None, "undefined: no cases")


def test_cohens_h() -> None:
    assert cohens_h(0.875, 0.800) == pytest.approx(0.2046, abs=5e-5)
    assert cohens_h(0.0, 1.0) == pytest.approx(-np.pi)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="not in"):
            cohens_h(wrong, 0.5)


def _tango_by_maximisation(wins: int, losses: int, n: int, delta: float) -> float:
    """Score of delta with the nuisance parameter found by maximising the likelihood."""
    low = max(0.0, -delta)

    def minus_log_likelihood(q: float) -> float:
        cells = (q + delta, q, 1 - 2 * q - delta)
        counts = (wins, losses, n - wins - losses)
        pairs = zip(counts, cells, strict=True)
        return -sum(k * math.log(max(p, 1e-300)) for k, p in pairs if k)

    q = optimize.minimize_scalar(
        minus_log_likelihood,
        bounds=(low, (1 - delta) / 2),
        method="bounded",
        options={"xatol": 1e-12},
    ).x
    variance = float(n * (2 * q + delta * (1 - delta)))
    return (wins - losses - n * delta) / math.sqrt(variance)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(5, 200), data=st.data())
def test_tango_limits_solve_the_score_equation(n: int, data: st.DataObject) -> None:
    wins = data.draw(st.integers(1, n - 2))
    losses = data.draw(st.integers(1, n - 1 - wins))
    low, high = tango_limits(wins, losses, n)
    assert -1 <= low < (wins - losses) / n < high <= 1
    assert _tango_by_maximisation(wins, losses, n, low) == pytest.approx(1.959964, abs=2e-3)
    assert _tango_by_maximisation(wins, losses, n, high) == pytest.approx(-1.959964, abs=2e-3)
    assert tango_limits(losses, wins, n) == pytest.approx((-high, -low))


def test_tango_at_the_edges() -> None:
    z2 = stats.norm.ppf(0.975) ** 2
    assert tango_limits(0, 0, 100) == pytest.approx((-z2 / (100 + z2), z2 / (100 + z2)))
    low, high = tango_limits(10, 0, 10)
    assert high == pytest.approx(1.0)
    assert 0 < low < 1
    for wins, losses, n in ((-1, 0, 5), (3, 3, 5), (0, 0, 0)):
        with pytest.raises(ValueError, match="pairs"):
            tango_limits(wins, losses, n)
