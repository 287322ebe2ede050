from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Literal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from framework.errors import UserError
from framework.statistics.bootstrap import bootstrap_means, percentile_limits
from framework.statistics.intervals import Interval
from framework.statistics.paired import Comparison, UnpairedCases, compare, pair
from framework.statistics.proportions import tango_limits

VALUE = st.one_of(st.none(), st.sampled_from([0.0, 1 / 6, 1 / 3, 0.5, 2 / 3, 1.0]))


def by_case(values: Iterable[float | None]) -> dict[str, float | None]:
    return {f"case-{i:04}": value for i, value in enumerate(values)}


def test_pairing_is_by_id() -> None:
    pairs = pair({"x": 1.0, "y": 2.0, "z": None}, {"z": 3.0, "y": 5.0, "x": math.nan})
    assert pairs.ids == ("y",)
    assert (pairs.a.tolist(), pairs.b.tolist(), pairs.undefined) == ([2.0], [5.0], 2)


def test_missing_partners_are_an_error_that_names_a_few() -> None:
    a = by_case([1.0] * 10)
    b = by_case([1.0] * 3) | {"other": 0.0}
    with pytest.raises(UnpairedCases) as error:
        pair(a, b)
    assert isinstance(error.value, UserError)
    assert str(error.value) == (
        "arms were measured on different cases: 7 missing in the second "
        "(case-0003, case-0004, case-0005, ...); 1 missing in the first (other)"
    )


def test_agrees_with_scipy() -> None:
    rng = np.random.default_rng(8)
    x = rng.beta(3, 2, size=120)
    y = np.clip(x + rng.normal(0.03, 0.15, size=120), 0, 1)
    result = compare(by_case(x), by_case(y), seed=1)
    assert result.delta == pytest.approx((x - y).mean())
    assert (result.mean_a, result.mean_b) == pytest.approx((x.mean(), y.mean()))
    (means,) = bootstrap_means([x - y], np.random.default_rng(1))
    oracles: tuple[tuple[tuple[float | None, float | None], Literal["BCa", "percentile"]], ...] = (
        ((result.interval.low, result.interval.high), "BCa"),
        (percentile_limits(means, 0.95), "percentile"),
    )
    for limits, method in oracles:
        oracle = stats.bootstrap(
            (x - y,), np.mean, n_resamples=10_000, method=method, batch=1000, rng=2
        ).confidence_interval
        assert limits == pytest.approx((oracle.low, oracle.high), abs=0.002)
    test = stats.permutation_test(
        (x - y,), np.mean, permutation_type="samples", n_resamples=10_000, batch=1000, rng=2
    )
    assert result.permutation.p == pytest.approx(test.pvalue, abs=0.015)
    assert result.interval.method == "bca bootstrap"
    assert result.bounds.method == "bounded mean"
    assert result.bounds.low is not None
    assert result.interval.low is not None
    assert result.interval.low - 0.03 < result.bounds.low < result.interval.low


def test_binary_axis() -> None:
    a = by_case([1.0] * 11 + [0.0] * 1 + [1.0] * 28)
    b = by_case([0.0] * 11 + [1.0] * 1 + [1.0] * 28)
    result = compare(a, b, seed=0)
    assert (result.mcnemar.wins, result.mcnemar.losses) == (11, 1)
    assert result.mcnemar.p == pytest.approx(0.0063, abs=5e-5)
    assert result.permutation.p == pytest.approx(result.mcnemar.p)
    assert result.mcnemar.binarisation == "as is"
    assert result.bounds.method == "tango score"
    assert (result.n, result.n_discordant) == (40, 12)


@settings(max_examples=40, deadline=None)
@given(
    cases=st.lists(
        st.tuples(VALUE, VALUE, st.one_of(st.none(), st.sampled_from("abcdefghijkl"))), max_size=50
    ),
    seed=st.integers(0, 5),
    use_clusters=st.booleans(),
)
def test_laws(
    cases: list[tuple[float | None, float | None, str | None]], seed: int, use_clusters: bool
) -> None:
    a = by_case([x for x, _, _ in cases])
    b = by_case([y for _, y, _ in cases])
    clusters = dict(zip(a, (c for _, _, c in cases), strict=True)) if use_clusters else None

    def run(x: dict[str, float | None], y: dict[str, float | None]) -> Comparison:
        return compare(x, y, clusters, seed=seed, resamples=300, smallest_effect=0.2)

    result, swapped = run(a, b), run(b, a)
    order = list(a)
    random.Random(seed).shuffle(order)
    assert run({case: a[case] for case in order}, {case: b[case] for case in order}) == result

    for mine, theirs in (
        (result.interval, swapped.interval),
        (result.bounds, swapped.bounds),
    ):
        assert mine.method == theirs.method
        if mine.low is not None and mine.high is not None:
            assert (theirs.low, theirs.high) == pytest.approx((-mine.high, -mine.low), abs=1e-12)
            assert -1 <= mine.low <= mine.high <= 1
    if result.delta is not None:
        assert swapped.delta == pytest.approx(-result.delta)
    assert swapped.permutation == result.permutation
    assert swapped.mcnemar.p == result.mcnemar.p
    assert swapped.within_effect == result.within_effect
    assert result.n + result.n_undefined == len(cases)


@given(
    st.lists(st.tuples(VALUE, VALUE), min_size=1, max_size=40),
    st.sampled_from([None, 2]),
    st.booleans(),
)
@example([(0.0, 1.0)] * 4 + [(1.0, 1.0)] * 46, None, False)
@settings(max_examples=60, deadline=None)
def test_an_interval_leaves_out_0_only_where_the_test_beside_it_rejects(
    pairs: list[tuple[float | None, float | None]], size: int | None, amount: bool
) -> None:
    a, b = (by_case(side) for side in zip(*pairs, strict=True))
    clusters = {case: str(i // size) if size else None for i, case in enumerate(a)}
    found = compare(a, b, clusters, seed=2, amount=amount, resamples=500)
    low, high, p = found.interval.low, found.interval.high, found.permutation.p
    if low is not None and high is not None and p is not None:
        assert low <= 0 <= high or p < 0.05
        if found.interval.method.endswith(", not past 0: sign-flip test"):
            assert p >= 0.05
            assert 0 in (low, high)


def test_four_losses_and_no_win_are_shown_as_undecided_by_interval_and_test() -> None:
    found = compare(by_case([0.0] * 4 + [1.0] * 46), by_case([1.0] * 50), seed=1)
    assert tango_limits(0, 4, 50)[1] < 0
    assert found.permutation.p == 0.125
    assert found.interval.high == 0.0
    assert found.interval.method == "tango score, not past 0: sign-flip test"


def test_clusters_carry_the_test_and_the_interval() -> None:
    b = np.full(150, 0.5)
    a = b + np.repeat(np.linspace(-0.2, 0.4, 15), 10)  # one effect a cluster, ten times over
    clusters = {case: f"c{i // 10}" for i, case in enumerate(by_case(a))}
    alone, clustered = (
        compare(by_case(a), by_case(b), seed=0),
        compare(by_case(a), by_case(b), clusters, seed=0),
    )
    assert alone.permutation.p is not None
    assert clustered.permutation.p is not None
    assert alone.permutation.p < 0.001 < clustered.permutation.p
    assert (clustered.n, clustered.n_clusters, clustered.n_discordant) == (150, 15, 15)
    assert clustered.permutation.smallest_p == 2.0**-14
    assert clustered.interval.method == "cr2 t over clusters"
    assert clustered.bounds.method == "bounded mean over clusters"
    assert clustered.mean_a is not None
    assert clustered.mean_b is not None
    assert clustered.delta == pytest.approx(clustered.mean_a - clustered.mean_b)


def test_fewer_than_ten_clusters_claim_no_interval() -> None:
    a, b = by_case([0.5, 0.75] * 10), by_case([0.25, 0.5] * 10)
    clusters = {case: f"c{i // 5}" for i, case in enumerate(a)}
    result = compare(a, b, clusters, seed=0, smallest_effect=0.5)
    for interval in (result.interval, result.bounds):
        assert (interval.low, interval.high) == (None, None)
        assert interval.method == "no interval: 4 clusters, fewer than 10"
    assert result.permutation.p == result.permutation.smallest_p == 0.125
    assert result.cannot_conclude
    assert result.within_effect is False


def test_clusters_must_name_every_case() -> None:
    with pytest.raises(ValueError, match="no cluster given for 1 case"):
        compare(by_case([1.0, 0.0]), by_case([1.0, 1.0]), {"case-0000": "c"}, seed=0)


def test_five_cases_cannot_conclude_and_six_can() -> None:
    five = compare(by_case([1.0] * 5), by_case([0.0] * 5), seed=0)
    assert (five.permutation.p, five.cannot_conclude) == (0.0625, True)
    six = compare(by_case([1.0] * 6), by_case([0.0] * 6), seed=0)
    assert (six.permutation.p, six.cannot_conclude) == (0.03125, False)


def test_all_differences_equal() -> None:
    alike = compare(by_case([0.25, 1.0] * 50), by_case([0.25, 1.0] * 50), seed=0)
    assert alike.interval.method == "bounded mean"
    assert alike.delta == 0
    assert alike.interval.low == pytest.approx(-(1 - 0.025**0.01))
    assert alike.permutation.p == alike.mcnemar.p == 1.0
    assert alike.n_discordant == 0
    shifted = compare(by_case([1.0] * 50), by_case([0.0] * 50), seed=0)
    assert shifted.interval.high == pytest.approx(1.0)
    assert shifted.interval.low == pytest.approx(tango_limits(50, 0, 50)[0])
    assert shifted.bounds == shifted.interval
    tokens = compare(by_case([335.0] * 50), by_case([300.0] * 50), seed=0)
    assert (tokens.delta, tokens.interval.low) == (35.0, None)
    assert tokens.interval.method == "no interval: all values equal"
    assert tokens.cohens_h is None


def test_no_case_and_one_case() -> None:
    empty = compare({}, {}, seed=0, smallest_effect=0.1)
    undefined = compare({"x": None}, {"x": 1.0}, seed=0)
    for result in (empty, undefined):
        assert (result.n, result.delta, result.mean_a, result.cohens_h) == (0, None, None, None)
        assert result.permutation.p is None
        assert result.mcnemar.p is None
        assert result.cannot_conclude
        assert result.interval.method == "undefined: no cases"
    assert undefined.n_undefined == 1
    assert empty.within_effect is False
    one = compare({"x": 0.5}, {"x": 0.25}, seed=0)
    assert (one.delta, one.permutation.p, one.cannot_conclude) == (0.25, 1.0, True)
    assert one.interval.low is not None
    assert one.interval.low < -0.9
    assert compare({"x": 50.0}, {"x": 25.0}, seed=0).interval.method == "no interval: one case"


def test_infinity_and_a_meaningless_effect_are_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        compare({"x": math.inf}, {"x": 0.0}, seed=0)
    with pytest.raises(ValueError, match="not above 0"):
        compare({"x": 1.0}, {"x": 0.0}, seed=0, smallest_effect=0.0)


def test_rounding_is_no_difference() -> None:
    a = by_case([0.1 + 0.2] * 30)
    result = compare(a, by_case([0.3] * 30), seed=0)
    assert (result.n_discordant, result.permutation.p, result.delta) == (0, 1.0, 0.0)


def test_equivalence_needs_the_cases_for_it() -> None:
    values = [0.0, 1.0] * 36
    for n, equivalent in ((71, False), (72, True)):
        a = by_case(values[:n])
        assert compare(a, a, seed=0, smallest_effect=0.05).within_effect is equivalent
        assert compare(a, a, seed=0).within_effect is None


def test_names_and_seed_choose_the_draws() -> None:
    rng = np.random.default_rng(0)
    a, b = by_case(rng.random(40)), by_case(rng.random(40))

    def interval(seed: int, *names: str) -> Interval:
        return compare(a, b, seed=seed, names=names).interval

    assert interval(0, "frp") == interval(0, "frp")
    assert len({interval(0, "frp").low, interval(0, "rcs").low, interval(1, "frp").low}) == 3


@pytest.mark.slow
def test_interval_holds_the_true_difference_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(21)
    covered = 0
    for trial in range(300):
        d = rng.beta(2, 3, size=40)
        result = compare(by_case(d), by_case(np.zeros(40)), seed=trial, resamples=1000)
        assert result.interval.low is not None
        assert result.interval.high is not None
        covered += result.interval.low <= 0.4 <= result.interval.high
    assert 265 <= covered <= 298


def test_a_lost_large_cluster_is_bounded_by_its_size() -> None:
    """One cluster of 3 cases loses and 14 cases do not differ: others may be as large."""
    clusters = {f"b{i}": "big" for i in range(3)} | {f"c{i}": f"k{i}" for i in range(14)}
    b = dict.fromkeys(clusters, 1.0)
    a = {case: 0.0 if clusters[case] == "big" else 1.0 for case in clusters}
    found = compare(a, b, clusters, seed=0)
    assert found.delta == pytest.approx(-3 / 17)  # over cases; over clusters it would be -1 / 15
    assert (found.n, found.n_clusters, found.n_discordant) == (17, 15, 1)
    assert found.bounds.method == "bounded mean over clusters"
    # Of 14 small and 2 large units weighted at random, one of the large ones unseen and lost.
    rng = np.random.default_rng(0)
    small, seen, unseen = (rng.gamma(k, size=400_000) for k in (14, 1, 1))
    means = -3 * (seen + unseen) / (small + 3 * (seen + unseen))
    assert found.bounds.low == pytest.approx(float(np.quantile(means, 0.025)), abs=0.004)


def test_a_cluster_whose_differences_cancel_is_not_discordant() -> None:
    clusters = {f"{i}{side}": f"k{i}" for i in range(12) for side in "lr"}
    clusters["alone"] = "k12"
    b = dict.fromkeys(clusters, 0.5)
    a = {case: 1.0 if case.endswith("l") else 0.0 for case in clusters}
    a["alone"] = 1.0
    found = compare(a, b, clusters, seed=0)
    assert found.n_discordant == 1
    assert found.delta == pytest.approx(0.5 / 25)
    assert found.permutation.p == 1.0
