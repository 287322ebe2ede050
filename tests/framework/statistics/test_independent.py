from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

from framework.statistics.independent import two_proportions


def test_worked_examples_of_the_depth_paper() -> None:
    found = two_proportions(35, 40, 32, 40)
    assert found.z == pytest.approx(0.91, abs=0.005)
    assert found.p == pytest.approx(0.36, abs=0.005)
    assert two_proportions(3, 12, 6, 12).z == pytest.approx(-1.26, abs=0.005)
    certain = two_proportions(40, 40, 27, 40)
    assert certain.z == pytest.approx(3.94, abs=0.005)
    assert certain.p < 1e-4


@given(a=st.integers(1, 40), b=st.integers(1, 30))
def test_agrees_with_statsmodels(a: int, b: int) -> None:
    found = two_proportions(a, 50, b, 31)
    z, p = proportions_ztest([a, b], [50, 31])
    assert (found.z, found.z_p) == pytest.approx((z, p))
    low, high = confint_proportions_2indep(a, 50, b, 31, method="newcomb", compare="diff")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    swapped = two_proportions(b, 31, a, 50)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))


def test_few_expected_are_exact() -> None:
    found = two_proportions(3, 12, 6, 12)
    assert found.p == pytest.approx(two_proportions(3, 12, 6, 12).p)
    few = two_proportions(1, 6, 5, 6)
    assert few.method == "fisher exact (few expected)"
    assert few.p == pytest.approx(stats.fisher_exact([[1, 5], [5, 1]]).pvalue)


@pytest.mark.parametrize("successes", [0, 12])
def test_both_at_the_boundary(successes: int) -> None:
    found = two_proportions(successes, 12, successes, 12)
    assert (found.difference, found.z, found.p) == (0.0, None, 1.0)
    assert found.low < 0 < found.high


def test_no_trials_is_refused() -> None:
    with pytest.raises(ValueError, match="0 successes of 0"):
        two_proportions(0, 0, 1, 2)
