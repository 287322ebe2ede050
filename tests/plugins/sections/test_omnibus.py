from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
import scikit_posthocs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q

from plugins.sections._omnibus import cochran_q, critical_difference, friedman

# Hollander and Wolfe (1973), p. 140, as in R's friedman.test: rounding first base, 22 players.
ROUNDING_TIMES = """
5.40 5.50 5.55 5.85 5.70 5.75 5.20 5.60 5.50 5.55 5.50 5.40 5.90 5.85 5.70 5.45 5.55 5.60
5.40 5.40 5.35 5.45 5.50 5.35 5.25 5.15 5.00 5.85 5.80 5.70 5.25 5.20 5.10 5.65 5.55 5.45
5.60 5.35 5.45 5.05 5.00 4.95 5.50 5.50 5.40 5.45 5.55 5.50 5.55 5.55 5.35 5.45 5.50 5.55
5.50 5.45 5.25 5.65 5.60 5.40 5.70 5.65 5.55 6.30 6.30 6.25
"""


def test_friedman_gives_what_r_gives() -> None:
    times = np.array(ROUNDING_TIMES.split(), dtype=float).reshape(22, 3)
    found = friedman(times)
    assert found.statistic == pytest.approx(11.143, abs=5e-4)
    assert found.p == pytest.approx(0.003805, abs=5e-7)
    assert (found.df, found.n, found.method) == (2, 22, "chi-squared")


@given(hnp.arrays(np.float64, (12, 4), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_friedman_agrees_with_scipy(table: npt.NDArray[np.float64]) -> None:
    found = friedman(table)
    if found.n_informative == 0:
        assert (found.p, found.method) == (1.0, "no case tells the arms apart")
        return
    oracle = stats.friedmanchisquare(*table.T)
    assert found.statistic == pytest.approx(oracle.statistic)
    if found.method == "chi-squared":
        assert found.p == pytest.approx(oracle.pvalue)


@given(hnp.arrays(np.int64, (15, 3), elements=st.integers(0, 1)))
def test_cochran_agrees_with_statsmodels(table: npt.NDArray[np.int64]) -> None:
    found = cochran_q(table)
    if found.n_informative == 0:
        assert found.p == 1.0
        return
    oracle = cochrans_q(table)
    assert found.statistic == pytest.approx(oracle.statistic)
    if found.method == "chi-squared":
        assert found.p == pytest.approx(oracle.pvalue)


def test_few_cases_are_permuted_within_cases() -> None:
    table = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 0, 0]])
    found = cochran_q(table)
    arrangements = [sorted(set(itertools.permutations(row))) for row in table.tolist()]

    def spread(rows: tuple[tuple[int, ...], ...]) -> float:
        return float(np.var(np.sum(rows, axis=0)))

    every = [spread(rows) for rows in itertools.product(*arrangements)]
    exact = np.mean([s >= spread(tuple(map(tuple, table))) - 1e-9 for s in every])
    assert found.method == "permutation within cases (10000 draws)"
    assert found.p == pytest.approx(exact, abs=0.01)


def test_nemenyi_without_ties_is_the_textbook_one() -> None:
    rng = np.random.default_rng(3)
    table = rng.random((25, 5)) + np.array([0.5, 0.1, 0, 0, 0])
    arms = list("abcde")
    found = critical_difference(table, arms)
    oracle = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    place = [found.arms.index(arm) for arm in arms]
    assert found.p[np.ix_(place, place)] == pytest.approx(oracle, abs=1e-9)
    q = stats.studentized_range.ppf(0.95, 5, np.inf) / np.sqrt(2)
    assert found.critical_difference == pytest.approx(q * np.sqrt(5 * 6 / (6 * 25)))
    assert found.method == "nemenyi"
    assert found.arms[0] == "a"
    assert found.omnibus.p == pytest.approx(stats.friedmanchisquare(*table.T).pvalue)


def test_with_ties_the_critical_difference_is_that_of_permutations() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(0, 4, size=(100, 4)) // np.array([1, 1, 2, 2])
    found = critical_difference(table, list("abcd"))
    q = stats.studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2)
    untouched = q * np.sqrt(4 * 5 / (6 * 100))
    assert found.method == "nemenyi, tie-corrected"
    assert found.critical_difference < untouched
    ranks = stats.rankdata(-table, axis=1)
    drawn = rng.permuted(np.broadcast_to(ranks, (4000, *ranks.shape)), axis=2).mean(axis=1)
    widest = np.ptp(drawn, axis=1)
    assert np.mean(widest > found.critical_difference) == pytest.approx(0.05, abs=0.012)
    assert np.mean(widest > untouched) < 0.04


def test_groups_are_the_bars_of_the_diagram() -> None:
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40, 4)) + np.array([3.0, 0.1, 0.0, -3.0])
    found = critical_difference(table, ["best", "m1", "m2", "worst"])
    assert [set(group) for group in found.groups] == [{"m1", "m2"}]
    assert (found.arms[0], found.arms[-1]) == ("best", "worst")
    turned = critical_difference(-table, ["best", "m1", "m2", "worst"], higher_is_better=False)
    assert turned.mean_ranks == found.mean_ranks


def test_refusals() -> None:
    with pytest.raises(ValueError, match="undefined values"):
        friedman([[1.0, np.nan, 0.0]])
    with pytest.raises(ValueError, match="at least 3 arms"):
        friedman([[1.0, 0.0]])
    with pytest.raises(ValueError, match="takes 0 and 1"):
        cochran_q([[0.5, 1.0]])
    with pytest.raises(ValueError, match="every case ties"):
        critical_difference([[1.0, 1.0, 1.0]] * 5, list("abc"))
    with pytest.raises(ValueError, match="2 names for 3 arms"):
        critical_difference([[1.0, 0.0, 1.0]] * 5, list("ab"))
    with pytest.raises(ValueError, match="table"):
        friedman(np.empty((0, 3)))
