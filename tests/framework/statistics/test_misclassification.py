"""A judged share corrected for the judge's error holds the true share as often as it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from framework.statistics.intervals import Interval
from framework.statistics.misclassification import (
    corrected_difference,
    corrected_mean,
    corrected_share,
)
from framework.statistics.paired import compare


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


def test_independent_answers_that_were_all_judged_are_corrected_by_their_counts() -> None:
    verdicts = [1.0] * 34 + [0.0] * 66
    alone = corrected_mean(
        verdicts, [None] * 100, (180, 200), (40, 200), np.random.default_rng(1), draws=500
    )
    by_counts = corrected_share(
        (34, 100), (180, 200), (40, 200), np.random.default_rng(1), draws=500
    )
    assert alone == by_counts


def test_an_answer_that_is_wrong_without_a_verdict_is_not_passed_by_error() -> None:
    # 50 judged of 100, 30 passed: (.3 - .5 * .2) / .7 of all, where (.3 - .2) / .7 takes it that
    # all were judged.
    verdicts = [1.0] * 30 + [0.0] * 20 + [None] * 50
    found = corrected_mean(verdicts, [None] * 100, (180, 200), (40, 200), np.random.default_rng(1))
    assert found.share == pytest.approx(0.2 / 0.7)
    assert found.high is not None
    assert found.high <= 0.5


def test_answers_that_are_alike_in_their_cluster_widen_the_interval() -> None:
    verdicts = [1.0] * 60 + [0.0] * 60
    width = {}
    for size in (1, 5):
        clusters = [str(i // size) for i in range(120)]
        found = corrected_mean(verdicts, clusters, (190, 200), (10, 200), np.random.default_rng(1))
        width[size] = (found.high or 0) - (found.low or 0)
    assert width[5] > 1.8 * width[1]
    few = corrected_mean(
        verdicts,
        [str(i // 20) for i in range(120)],
        (190, 200),
        (10, 200),
        np.random.default_rng(1),
    )
    assert few.share == pytest.approx(0.5)
    assert (few.low, few.high) == (None, None)
    assert few.method == "no interval: 6 clusters, fewer than 10"


@given(
    st.lists(st.sampled_from([0.0, 0.4, 1.0, None]), min_size=1, max_size=60).filter(
        lambda verdicts: any(v is not None for v in verdicts)
    ),
    st.integers(1, 6),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_a_corrected_mean_is_a_share_within_its_limits_whatever_the_order(
    verdicts: list[float | None], size: int, right: int, wrong: int
) -> None:
    clusters = [str(i // size) for i in range(len(verdicts))]
    found, turned = (
        corrected_mean(v, c, (right, 20), (wrong, 20), np.random.default_rng(1), draws=200)
        for v, c in ((verdicts, clusters), (verdicts[::-1], clusters[::-1]))
    )
    assert found.share == pytest.approx(turned.share)
    if found.share is None:
        assert right <= wrong
    else:
        most = sum(v is not None for v in verdicts) / len(verdicts)
        assert 0 <= found.share <= most
        if found.low is not None and found.high is not None:
            assert 0 <= found.low <= found.high <= 1
            assert (found.low, found.high) == pytest.approx((turned.low, turned.high))


@pytest.mark.parametrize("verdicts", [[], [None], [-0.5], [2.0, 1.0]])
def test_verdicts_are_shares(verdicts: list[float | None]) -> None:
    with pytest.raises(ValueError, match=r"a verdict is in \[0, 1\]"):
        corrected_mean(verdicts, [None] * len(verdicts), (1, 2), (0, 2), np.random.default_rng(1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clusters", "size", "alike", "abstains"),
    [(40, 5, 0.2, 0.0), (20, 5, 0.3, 0.0), (40, 5, 0.2, 0.3), (20, 10, 0.1, 0.3)],
)
def test_the_limits_hold_the_truth_where_answers_of_a_cluster_are_alike(
    clusters: int, size: int, alike: float, abstains: float
) -> None:
    """Beta-binomial clusters; of the wrong answers a share abstains. 93 to 97 of 100 samples."""
    rng = np.random.default_rng(17)
    truth, right, false, known = 0.5, 0.9, 0.1, 200
    held, samples = 0, 4_000
    spread = (1 - alike) / alike
    labels = [str(i // size) for i in range(clusters * size)]
    for _ in range(samples):
        own = rng.beta(truth * spread, (1 - truth) * spread, clusters).repeat(size)
        is_right = rng.random(len(own)) < own
        passed = rng.random(len(own)) < np.where(is_right, right, false)
        silent = ~is_right & (rng.random(len(own)) < abstains)
        found = corrected_mean(
            np.where(silent, np.nan, passed),
            labels,
            (int(rng.binomial(known, right)), known),
            (int(rng.binomial(known, false)), known),
            rng,
            draws=400,
        )
        held += (
            found.low is not None and found.high is not None and found.low <= truth <= found.high
        )
    assert 0.93 <= held / samples <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("cases", [10, 15, 60])
@pytest.mark.parametrize(("truth", "abstains"), [(0.5, 0.0), (0.85, 0.0), (0.6, 0.3)])
def test_the_limits_hold_the_mean_of_cases_with_several_verdicts_each(
    truth: float, abstains: float, cases: int
) -> None:
    """Five demands a case that are alike; 93 to 97 of 100 samples. Some cases have none."""
    rng = np.random.default_rng(19)
    right, false, known, each = 0.9, 0.1, 200, 5
    held, samples = 0, 4_000
    for _ in range(samples):
        own = rng.beta(truth * 4, (1 - truth) * 4, cases)
        silent = rng.random(cases) < abstains
        met = rng.random((cases, each)) < own[:, None]
        passed = rng.random((cases, each)) < np.where(met, right, false)
        found = corrected_mean(
            np.where(silent, np.nan, passed.mean(axis=1)),
            [None] * cases,
            (int(rng.binomial(known, right)), known),
            (int(rng.binomial(known, false)), known),
            rng,
            draws=400,
        )
        assert found.share is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.share <= found.high
        held += found.low <= truth * (1 - abstains) <= found.high
    assert 0.93 <= held / samples <= 0.97


def test_a_mean_of_several_verdicts_is_corrected_as_their_share_is() -> None:
    exact = (9 * 10**8, 10**9), (2 * 10**8, 10**9)
    shares, alone = [0.0, 0.4, 0.6, 0.8] * 25, [None] * 100
    found = corrected_mean(shares, alone, *exact, np.random.default_rng(1))
    assert found.share == pytest.approx((0.45 - 0.2) / 0.7)
    half = 1.984 * float(np.std(shares, ddof=1)) / 10 / 0.7  # Student's t, 99 degrees of freedom
    assert found.low == pytest.approx((0.45 - 0.2) / 0.7 - half, abs=0.01)
    assert found.high == pytest.approx((0.45 - 0.2) / 0.7 + half, abs=0.01)
    none = corrected_mean(
        [*shares, *[None] * 100], [*alone, *alone], *exact, np.random.default_rng(1)
    )
    assert none.share == pytest.approx((0.225 - 0.5 * 0.2) / 0.7)
    assert none.high is not None
    assert none.high <= 0.5
    chance = corrected_mean(shares, alone, (1, 2), (1, 2), np.random.default_rng(1))
    assert (chance.share, chance.low, chance.high) == (None, None, None)


def test_cases_that_have_one_value_tell_no_more_than_as_many_verdicts() -> None:
    rates = (190, 200), (10, 200)
    alike = corrected_mean([0.5] * 12, [None] * 12, *rates, np.random.default_rng(1))
    counted = corrected_share((6, 12), *rates, np.random.default_rng(1))
    assert alike == counted
    few = corrected_mean([0.5, 0.8] * 12, ["a", "b"] * 12, *rates, np.random.default_rng(1))
    assert (few.low, few.method) == (None, "no interval: 2 clusters, fewer than 10")


def test_a_difference_is_that_of_the_verdicts_over_what_the_judge_shows() -> None:
    seen = Interval(mean=0.2, low=0.1, high=0.3, n=100, n_clusters=None, method="tango score")
    rates = (10**6 * 9 // 10, 10**6), (10**6 // 10, 10**6)
    found = corrected_difference(seen, *rates, np.random.default_rng(1))
    assert (found.share, found.low, found.high) == pytest.approx((0.25, 0.125, 0.375), abs=0.005)
    assert found.method == "Rogan-Gladen of a difference: tango score"
    few = corrected_difference(seen, (18, 20), (2, 20), np.random.default_rng(1))
    assert few.share == pytest.approx(0.25)
    assert few.low is not None
    assert few.high is not None
    assert few.high - few.low > 0.26
    chance = corrected_difference(seen, (5, 20), (10, 20), np.random.default_rng(1))
    assert (chance.share, chance.low) == (None, None)
    none = replace(seen, low=None, high=None, method="no interval: 6 clusters, fewer than 10")
    unclaimed = corrected_difference(none, *rates, np.random.default_rng(1))
    assert (unclaimed.share, unclaimed.low) == (pytest.approx(0.25), None)
    assert unclaimed.method == "no interval: 6 clusters, fewer than 10"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "true", "false", "known", "abstains", "size"),
    [
        pytest.param(0.6, 0.6, 0.9, 0.1, 200, 0.0, 1, id="no difference"),
        pytest.param(0.7, 0.3, 0.8, 0.25, 60, 0.0, 1, id="a weak judge of 60 answers"),
        pytest.param(0.9, 0.85, 0.95, 0.05, 100, 0.0, 1, id="few pairs differ"),
        pytest.param(0.6, 0.4, 0.9, 0.15, 100, 0.5, 1, id="one arm abstains"),
        pytest.param(0.6, 0.4, 0.9, 0.1, 200, 0.0, 5, id="clusters of five"),
    ],
)
def test_the_limits_hold_the_true_difference(
    a: float, b: float, true: float, false: float, known: int, abstains: float, size: int
) -> None:
    """Of 200 cases, half of them equally hard for both arms. 93 to 97 of 100 samples."""
    rng = np.random.default_rng(11)
    n, samples, held = 200, 4_000, 0
    clusters = {str(i): str(i // size) for i in range(n)}
    for seed in range(samples):
        shared = np.sqrt(0.3) * rng.standard_normal(n // size).repeat(size)
        hard = ndtr((shared if size > 1 else 0) + np.sqrt(0.7 if size > 1 else 1)
                    * rng.standard_normal(n))  # fmt: skip
        other = np.where(rng.random(n) < 0.5, hard, rng.random(n))
        verdicts = []
        for is_right, silence in ((hard < a, 0.0), (other < b, abstains)):
            passed = rng.random(n) < np.where(is_right, true, false)
            judged = is_right | (rng.random(n) >= silence)
            verdicts.append((passed & judged, judged))
        right, wrong = ((int(rng.binomial(known, p)), known) for p in (true, false))
        less = wrong[0] / known if abstains else 0.0
        values = [
            {str(i): float(v) for i, v in enumerate(passed - less * judged)}
            for passed, judged in verdicts
        ]
        seen = compare(*values, clusters, seed=seed, amount=abstains > 0, resamples=300)
        judged = float(np.mean(verdicts[0][1]) - np.mean(verdicts[1][1]))
        found = corrected_difference(seen.interval, right, wrong, rng, judged=judged, draws=800)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= a - b <= found.high
    assert 0.93 <= held / samples <= 0.97
