from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from framework.statistics.bradley_terry import _solve, bradley_terry


def test_agrestis_baseball() -> None:
    """Agresti (2002), section 10.6.2, as fitted by R's BradleyTerry2: Baltimore at 0."""
    wins = np.array(
        [  # Milwaukee, Detroit, Toronto, New York, Boston, Cleveland, Baltimore
            [0, 7, 9, 7, 7, 9, 11],
            [6, 0, 7, 5, 11, 9, 9],
            [4, 6, 0, 7, 7, 8, 12],
            [6, 8, 6, 0, 6, 7, 10],
            [6, 2, 6, 7, 0, 7, 12],
            [4, 4, 5, 6, 6, 0, 6],
            [2, 4, 1, 3, 1, 7, 0],
        ],
        dtype=float,
    )
    strength = _solve(wins[None])[0]
    published = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]
    assert strength - strength[-1] == pytest.approx(published, abs=5e-4)


def test_two_arms_are_the_log_odds_of_winning() -> None:
    values = np.array([[1.0, 0.0]] * 30 + [[0.0, 1.0]] * 10)
    found = bradley_terry(values, ["a", "b"], seed=1)
    assert found.strength is not None
    assert found.strength[0] - found.strength[1] == pytest.approx(np.log(3), abs=1e-6)
    assert found.low is not None
    assert found.high is not None
    assert found.low[0] < found.strength[0] < found.high[0]
    assert found.low[0] > 0
    turned = bradley_terry(values, ["a", "b"], seed=1, higher_is_better=False)
    assert turned.strength == pytest.approx([-s for s in found.strength])


@given(hnp.arrays(np.float64, (12, 3), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_strengths_solve_the_likelihood(values: np.typing.NDArray[np.float64]) -> None:
    found = bradley_terry(values, list("abc"), seed=1, resamples=50)
    if found.strength is None:
        assert "undefined" in found.method
        return
    s = np.array(found.strength)
    chance = 1 / (1 + np.exp(s[None, :] - s[:, None]))
    expected = (found.wins + found.wins.T) * chance
    assert found.wins.sum(axis=1) == pytest.approx(expected.sum(axis=1), abs=1e-5)
    assert s.sum() == pytest.approx(0, abs=1e-8)


def test_refusals() -> None:
    always = bradley_terry([[1.0, 0.0]] * 20, ["a", "b"], seed=1)
    assert (always.strength, always.method[:9]) == (None, "undefined")
    rare = bradley_terry([[1.0, 0.0]] * 19 + [[0.0, 1.0]], ["a", "b"], seed=1)
    assert rare.method.startswith("no interval: no finite solution in ")
    few = bradley_terry([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], seed=1)
    assert few.method == "no interval: 2 cases, fewer than 10"
    with pytest.raises(ValueError, match="undefined values"):
        bradley_terry([[1.0, np.nan]], ["a", "b"], seed=1)
    with pytest.raises(ValueError, match="a name for each"):
        bradley_terry([[1.0, 0.0]], ["a"], seed=1)
