from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.selective import abstention_threshold, risk_coverage, risk_limits

ANSWERS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.booleans()), min_size=1, max_size=25
)


def test_by_hand() -> None:
    found = risk_coverage([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1])
    assert found.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert found.risk == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert found.aurc == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert found.aurc_optimal == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


@given(ANSWERS)
def test_ties_are_in_random_order(answers: list[tuple[float, bool]]) -> None:
    stated, lost = (np.array([float(v) for v in vs]) for vs in zip(*answers, strict=True))
    found = risk_coverage(stated, lost)
    rng = np.random.default_rng(0)
    total = 0.0
    for _ in range(400):
        shuffled = rng.permutation(len(stated))
        order = shuffled[np.argsort(-stated[shuffled], kind="stable")]
        total += float(np.mean(np.cumsum(lost[order]) / np.arange(1, len(stated) + 1)))
    assert found.aurc == pytest.approx(total / 400, abs=0.06)
    assert found.aurc_optimal <= found.aurc + 1e-12
    assert found.risk[-1] == pytest.approx(found.aurc_random)


def test_no_order_is_the_mean_loss() -> None:
    found = risk_coverage([0.5] * 10, [1] * 3 + [0] * 7)
    assert found.aurc == pytest.approx(0.3)
    assert found.coverage.tolist() == [1.0]


def test_undefined_confidence_ranks_last() -> None:
    found = risk_coverage([None, 0.2], [1, 0])
    assert found.threshold.tolist() == [0.2, -math.inf]
    assert found.risk.tolist() == [0.0, 0.5]


def test_the_threshold_keeps_its_promise() -> None:
    rng = np.random.default_rng(2)
    wrong = []
    for _ in range(600):
        stated = rng.random(101)
        lost = (rng.random(101) > stated).astype(float)
        found = abstention_threshold(stated[:100], lost[:100], alpha=0.1)
        wrong.append(lost[100] if stated[100] >= found.threshold else 0.0)
    assert np.mean(wrong) <= 0.1 + 2 * 0.3 / math.sqrt(600)
    assert np.mean(wrong) > 0.04


def test_refusals() -> None:
    few = abstention_threshold([0.9] * 5, [0] * 5, alpha=0.1)
    assert (few.threshold, few.coverage) == (math.inf, 0.0)
    assert few.method == "always abstain: 5 cases, at least 9 needed for alpha 0.1"
    bad = abstention_threshold([0.9] * 20, [1] * 20, alpha=0.1)
    assert bad.method == "always abstain: the surest answers are wrong too often"
    with pytest.raises(ValueError, match="alpha"):
        abstention_threshold([0.5], [0], alpha=0)
    for stated, lost in (([], []), ([0.5], [math.nan]), ([0.5], [2.0]), ([0.5, 0.4], [0])):
        with pytest.raises(ValueError, match="loss"):
            risk_coverage(stated, lost)


def test_limits_of_risk_hold_it_and_narrow_with_more_cases() -> None:
    rng = np.random.default_rng(5)

    def width(n: int) -> float:
        stated = rng.uniform(size=n)
        lost = (rng.uniform(size=n) < 0.6 - 0.4 * stated).astype(float)
        curve = risk_coverage(stated, lost)
        limits = risk_limits(stated, lost, [str(i) for i in range(n)], [0.5, 1.0], seed=7)
        assert limits is not None
        low, high = limits
        assert low[1] < curve.risk[-1] < high[1]
        return float(high[1] - low[1])

    assert width(400) < 0.7 * width(100)


def test_limits_of_risk_are_over_clusters() -> None:
    """Ten copies of each case are no more evidence than the case."""
    stated, lost = np.linspace(0, 1, 20), np.array([1.0, 0.0] * 10)
    names = [str(i) for i in range(20)]
    once = risk_limits(stated, lost, names, [1.0], seed=7)
    copied = risk_limits(np.tile(stated, 10), np.tile(lost, 10), names * 10, [1.0], seed=7)
    apart = [str(i) for i in range(200)]
    alone = risk_limits(np.tile(stated, 10), np.tile(lost, 10), apart, [1.0], seed=7)
    assert once is not None
    assert copied is not None
    assert alone is not None
    assert copied[0] == pytest.approx(once[0])
    assert copied[1] == pytest.approx(once[1])
    assert alone[1] - alone[0] < 0.5 * (once[1] - once[0])


def test_no_limits_below_ten_clusters_and_none_for_too_few_labels() -> None:
    assert risk_limits([0.1] * 9, [1] * 9, list("abcdefghi"), [1.0], seed=7) is None
    assert risk_limits([0.1] * 10, [1] * 10, list("abcdefghij"), [1.0], seed=7) is not None
    with pytest.raises(ValueError, match="9 cluster labels for 10 answers"):
        risk_limits([0.1] * 10, [1] * 10, list("abcdefghi"), [1.0], seed=7)


def test_a_constant_loss_has_no_width() -> None:
    limits = risk_limits([0.3, 0.9] * 8, [0.25] * 16, [str(i) for i in range(16)], [0.5], seed=7)
    assert limits is not None
    assert (limits[0][0], limits[1][0]) == pytest.approx((0.25, 0.25))
