from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.sections.selective import abstention_threshold, risk_coverage, risk_limits

ANSWERS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.booleans()), min_size=1, max_size=25
)


def test_by_hand() -> None:
    found = risk_coverage([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1])
    assert found.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert found.risk == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert found.aurc == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert found.aurc_optimal == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


@pytest.mark.slow
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


@given(
    st.lists(
        st.tuples(st.sampled_from([None, 0.1, 0.3, 0.5, 0.9]), st.booleans(), st.integers(0, 12)),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from([0.1, 0.2, 0.5]),
)
def test_the_threshold_is_the_lowest_that_the_rule_allows(
    answers: list[tuple[float | None, bool, int]], alpha: float
) -> None:
    """Counted anew for every threshold: the mean over clusters of the mean loss committed to."""
    stated, wrong, clusters = zip(*answers, strict=True)
    found = abstention_threshold(stated, wrong, [str(c) for c in clusters], alpha=alpha)
    n = len(set(clusters))

    def bound(threshold: float) -> float:
        by: dict[int, list[float]] = {}
        for s, w, c in answers:
            by.setdefault(c, []).append(float(w) if s is not None and s >= threshold else 0.0)
        return (sum(sum(losses) / len(losses) for losses in by.values()) + 1) / (n + 1)

    assert found.n == n
    allowed = [t for t in {s for s in stated if s is not None} if bound(t) <= alpha + 1e-9]
    assert found.threshold == min(allowed, default=math.inf)
    assert found.coverage == sum(s is not None and s >= found.threshold for s in stated) / len(
        stated
    )


def test_copies_of_a_case_are_no_more_evidence_than_the_case() -> None:
    rng = np.random.default_rng(2)
    stated = rng.random(30)
    lost = (rng.random(30) > stated).astype(float)
    once = abstention_threshold(stated, lost, alpha=0.2)
    names = [str(i // 7) for i in range(210)]
    copied = abstention_threshold(stated.repeat(7), lost.repeat(7), names, alpha=0.2)
    assert (copied.threshold, copied.coverage, copied.n) == (
        once.threshold, pytest.approx(once.coverage), 30,
    )  # fmt: skip
    with pytest.raises(ValueError, match="2 cluster labels for 30"):
        abstention_threshold(stated, lost, ["a", "b"], alpha=0.2)


def test_the_threshold_keeps_its_promise_for_a_case_of_a_new_cluster() -> None:
    """Cases of one cluster are alike: as single cases they would promise too much."""
    rng = np.random.default_rng(4)
    wrong: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(600):
        # A cluster's answers are all surer than they should be, or all less sure.
        shift = rng.uniform(-0.4, 0.4, 25)
        stated = rng.random((25, 8))
        lost = (rng.random((25, 8)) > stated + shift[:, None]).astype(float)
        names = [str(i) for i in range(24) for _ in range(8)]
        for clustered in (True, False):
            found = abstention_threshold(
                stated[:24].ravel(), lost[:24].ravel(), names if clustered else None, alpha=0.1
            )
            wrong[clustered].append(
                float(np.mean(np.where(stated[24] >= found.threshold, lost[24], 0.0)))
            )
    assert np.mean(wrong[True]) <= 0.1
    assert np.mean(wrong[True]) < np.mean(wrong[False])


def test_refusals() -> None:
    few = abstention_threshold([0.9] * 5, [0] * 5, alpha=0.1)
    assert (few.threshold, few.coverage) == (math.inf, 0.0)
    assert few.method == "always abstain: 5 cases, at least 9 needed for 0.1"
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
