"""A judged share corrected for the judge's error holds the true share as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.misclassification import corrected_share


def test_rogan_and_gladen() -> None:
    # 34 of 100 passed by a judge that passes .9 of the right and .2 of the wrong: (.34 - .2) / .7.
    found = corrected_share((34, 100), (180, 200), (40, 200), np.random.default_rng(1))
    assert found.share == pytest.approx(0.2)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.2 < found.high


def test_a_judge_without_error_changes_little() -> None:
    found = corrected_share((50, 100), (10**6, 10**6), (0, 10**6), np.random.default_rng(1))
    assert found.share == 0.5
    assert found.low == pytest.approx(0.404, abs=0.01)
    assert found.high == pytest.approx(0.596, abs=0.01)


def test_a_judge_no_better_than_chance_says_nothing() -> None:
    found = corrected_share((50, 100), (30, 100), (60, 100), np.random.default_rng(1))
    assert (found.share, found.low, found.high) == (None, None, None)


def test_few_answers_of_known_truth_widen_the_interval() -> None:
    few, many = (
        corrected_share((50, 100), (9 * k, 10 * k), (k, 10 * k), np.random.default_rng(1))
        for k in (1, 100)
    )
    assert (few.high or 0) - (few.low or 0) > 1.5 * ((many.high or 0) - (many.low or 0))


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_limits_lie_around_the_share(passed: int, right: int, wrong: int) -> None:
    found = corrected_share(
        (passed, 30), (right, 30), (wrong, 30), np.random.default_rng(1), draws=200
    )
    if found.share is None:
        assert right <= wrong
    else:
        assert 0 <= (found.low or 0) <= (found.high or 0) <= 1


def test_counts_must_be_shares() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        corrected_share((3, 2), (1, 2), (1, 2), np.random.default_rng(1))


@pytest.mark.parametrize("truth", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("right", "false"), [(0.95, 0.05), (0.75, 0.3)])
def test_the_limits_hold_the_truth_in_93_to_97_of_100_samples(
    truth: float, right: float, false: float
) -> None:
    rng = np.random.default_rng(11)
    held, samples, n, known = 0, 2_000, 100, 200
    for _ in range(samples):
        rate = truth * right + (1 - truth) * false
        found = corrected_share(
            (int(rng.binomial(n, rate)), n),
            (int(rng.binomial(known, right)), known),
            (int(rng.binomial(known, false)), known),
            rng,
            draws=500,
        )
        held += (
            found.low is not None and found.high is not None and found.low <= truth <= found.high
        )
    assert 0.93 <= held / samples <= 0.97
