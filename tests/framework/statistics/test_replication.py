from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from framework.statistics.replication import kendall, replication

MEANS = st.lists(
    st.tuples(*[st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])] * 2), min_size=3, max_size=9
)


@given(MEANS)
def test_it_agrees_with_scipy(points: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in points], [b for _, b in points]
    found = replication(*({f"arm{i}": v for i, v in enumerate(means)} for means in (x, y)))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found.pearson is found.spearman is found.kendall is None
    else:
        assert found.pearson == pytest.approx(stats.pearsonr(x, y).statistic)
        assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
        assert found.kendall == pytest.approx(stats.kendalltau(x, y).statistic)
    assert found.pairs + found.ties == len(x) * (len(x) - 1) // 2
    assert found.largest_difference == max(abs(a - b) for a, b in points)


def test_order_and_differences_are_by_arm() -> None:
    weak = {"none": 0.0, "bm25": 0.4, "graph": 0.5, "oracle": 0.9, "weak only": 1.0}
    strong = {"none": 0.0, "bm25": 0.7, "graph": 0.6, "oracle": 1.0}
    found = replication(weak, strong)
    assert (found.n, found.pairs, found.same_order, found.ties) == (4, 6, 5, 0)
    assert (found.largest_arm, found.largest_difference) == ("bm25", pytest.approx(0.3))
    assert found.mean_difference == pytest.approx(0.125)
    assert found.kendall == pytest.approx(4 / 6)


def test_two_arms_have_an_order_and_no_correlation() -> None:
    found = replication({"a": 0.1, "b": 0.2}, {"a": 0.3, "b": 0.9})
    assert (found.same_order, found.pearson, found.kendall) == (1, None, None)
    assert kendall([1.0, 1.0], [0.0, 1.0]) is None
    with pytest.raises(ValueError, match="no arm in common"):
        replication({"a": 0.1}, {"b": 0.1})
    with pytest.raises(ValueError, match="numbers"):
        replication({"a": float("nan")}, {"a": 0.1})
