from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from framework.errors import UserError
from framework.statistics.comparison import (
    INSENSITIVE,
    SKEWED,
    ComparisonRow,
    case_means,
    comparison_table,
)
from framework.statistics.multiplicity import holm
from framework.statistics.paired import UnpairedCases, compare, paired_bounds

SKILL = {"dpm": 0.85, "none": 0.1, "retr_only": 0.55, "summ_only": 0.7}


def rows_of(
    arms: Mapping[str, float] = SKILL,
    budgets: tuple[str, ...] = ("loose", "tight"),
    n: int = 40,
    repeats: int = 1,
) -> Iterator[dict[str, Any]]:
    for budget in budgets:
        for arm, skill in arms.items():
            for case in range(n):
                rng = np.random.default_rng([len(arm), ord(arm[0]), len(budget), case])
                for sample in range(repeats):
                    yield {
                        "case_id": f"loan-{case:03}",
                        "arm": arm,
                        "budget": budget,
                        "sample": sample,
                        "variant": "",
                        "cluster": None,
                        "axes": {
                            "eda": float(rng.random() < skill),
                            "frp": float(rng.integers(0, 7) / 6 * skill),
                            "tokens": float(rng.integers(100, 300)),
                        },
                    }


def find(table: list[ComparisonRow], **wanted: str) -> ComparisonRow:
    (row,) = [r for r in table if all(getattr(r, k) == v for k, v in wanted.items())]
    return row


def test_every_pair_budget_and_axis_has_one_row() -> None:
    table = comparison_table(rows_of(), seed=1, resamples=500)
    keys = [(r.budget, r.axis, r.arm_a, r.arm_b) for r in table]
    assert len(set(keys)) == len(table) == 6 * 2 * 3
    assert keys == sorted(keys)
    against = comparison_table(rows_of(), seed=1, resamples=500, baseline="none", axes=["frp"])
    assert [(r.arm_a, r.arm_b, r.axis) for r in against] == [
        ("dpm", "none", "frp"),
        ("retr_only", "none", "frp"),
        ("summ_only", "none", "frp"),
    ] * 2


def test_a_row_is_the_comparison_of_its_pair() -> None:
    table = comparison_table(rows_of(), seed=1, resamples=500, baseline="retr_only")
    means = case_means(rows_of())
    row = find(table, arm_a="summ_only", budget="tight", axis="eda")
    expected = compare(
        means.column("tight", "summ_only", "eda"),
        means.column("tight", "retr_only", "eda"),
        seed=1,
        names=("tight", "eda", "retr_only", "summ_only"),
        resamples=500,
    )
    assert (row.delta, row.ci_low, row.ci_high) == (
        expected.delta,
        expected.interval.low,
        expected.interval.high,
    )
    assert (row.bound_low, row.bound_high, row.bound_method) == (
        expected.bounds.low,
        expected.bounds.high,
        "tango score",
    )
    assert row.permutation_p == expected.permutation.p
    assert row.mcnemar_p == expected.mcnemar.p
    assert (row.mcnemar_binarisation, row.cohens_h) == ("as is", expected.cohens_h)
    assert (row.n, row.n_clusters, row.smallest_p) == (40, None, 2.0**-39)
    tokens = find(table, arm_a="summ_only", budget="tight", axis="tokens")
    assert (tokens.mcnemar_p, tokens.cohens_h) == (None, None)


def test_another_arm_axis_or_budget_moves_no_interval_and_no_raw_p() -> None:
    two = {"dpm": SKILL["dpm"], "summ_only": SKILL["summ_only"]}
    small = comparison_table(rows_of(two, ("tight",)), seed=3, resamples=500, axes=["frp"])
    large = comparison_table(rows_of(), seed=3, resamples=500)
    alone = small[0]
    within = find(large, arm_a="dpm", arm_b="summ_only", budget="tight", axis="frp")
    family = {"holm_p", "smallest_holm_p", "conclusion", "reason"}
    family |= {"family_low", "family_high", "family_level"}
    for field, value in asdict(alone).items():
        if field not in family:
            assert getattr(within, field) == value, field
    assert alone.holm_p == alone.permutation_p


def test_holm_is_over_the_whole_table() -> None:
    table = comparison_table(rows_of(), seed=1, resamples=500, baseline="none")
    raw = [r.permutation_p for r in table]
    assert [r.holm_p for r in table] == holm([p for p in raw if p is not None])


def test_order_of_rows_does_not_matter() -> None:
    rows = list(rows_of(repeats=3))
    expected = comparison_table(rows, seed=1, resamples=200)
    random.Random(0).shuffle(rows)
    assert comparison_table(rows, seed=1, resamples=200) == expected


def test_either_arm_as_baseline_gives_mirrored_rows() -> None:
    two = {"dpm": 0.8, "summ_only": 0.6}
    (forth,) = comparison_table(
        rows_of(two, ("tight",)), seed=1, baseline="dpm", axes=["frp"], resamples=500
    )
    (back,) = comparison_table(
        rows_of(two, ("tight",)), seed=1, baseline="summ_only", axes=["frp"], resamples=500
    )
    assert (forth.arm_a, forth.arm_b) == (back.arm_b, back.arm_a)
    assert forth.delta == pytest.approx(-(back.delta or 0))
    assert forth.ci_low is not None
    assert back.ci_high == pytest.approx(-forth.ci_low)
    assert (forth.permutation_p, forth.holm_p) == (back.permutation_p, back.holm_p)


def rows_from(
    values: Mapping[str, Sequence[float | None]], clusters: list[str] | None = None
) -> list[dict[str, Any]]:
    return [
        {
            "case_id": f"{i:03}",
            "arm": arm,
            "budget": "tight",
            "cluster": clusters[i] if clusters else None,
            "axes": {"axis": value},
        }
        for arm, column in values.items()
        for i, value in enumerate(column)
    ]


def conclude(a: Sequence[float | None], b: Sequence[float | None], **options: Any) -> ComparisonRow:
    (row,) = comparison_table(rows_from({"a": a, "b": b}), seed=0, resamples=500, **options)
    return row


def test_conclusions() -> None:
    high, low = [1.0] * 40, [0.0] * 30 + [1.0] * 10
    assert conclude(high, low).conclusion == "a better"
    assert conclude(low, high).conclusion == "b better"
    assert conclude(low, high, lower_is_better=["axis"]).conclusion == "a better"
    assert conclude(high, [0.0] * 3 + [1.0] * 37).conclusion == "undecided"
    assert conclude(high, low, undirected=["axis"]).conclusion == "differs"
    assert conclude(high, high).conclusion == "undecided"
    assert conclude(high, high, smallest_effect=0.05).conclusion == "undecided"
    found = conclude(high, high, smallest_effect={"axis": 0.1})
    assert (found.conclusion, found.reason) == ("undecided", INSENSITIVE)
    assert conclude(high, high, smallest_effect={"other": 0.1}).conclusion == "undecided"


def test_arms_on_one_floor_are_not_equivalent() -> None:
    """None of three arms succeeds anywhere; then two of them do where the third does not."""
    floor = [0.0] * 60
    high = [1.0] * 54 + [0.0] * 6

    def concluded(a: list[float], third: list[float], **options: Any) -> str:
        rows = rows_from({"a": list(a), "b": list(a), "c": list(third)})
        table = comparison_table(rows, seed=0, smallest_effect=0.1, resamples=500, **options)
        return find(table, arm_a="a", arm_b="b").conclusion

    assert concluded(floor, floor) == "undecided"
    assert concluded(floor, high) == "undecided"  # others can do it: these two share their failure
    assert concluded(high, floor) == "equivalent"
    assert concluded(high, floor, lower_is_better=["axis"]) == "undecided"
    assert concluded(high, floor, undirected=["axis"]) == "equivalent"
    assert concluded(high, floor, baseline="b") == "equivalent"


def test_a_real_difference_below_the_smallest_effect_is_equivalence() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.7, 100)
    shifted: list[float | None] = (base + rng.uniform(0, 0.02, 100)).tolist()
    original: list[float | None] = base.tolist()
    found = conclude(shifted, original)
    assert found.permutation_p is not None
    assert found.permutation_p < 0.01
    assert (found.conclusion, found.reason) == ("undecided", SKEWED)  # one lost case undoes it
    assert None not in (found.family_low, found.family_high)
    assert found.family_low <= 0 <= found.family_high
    rows = rows_from({"a": shifted, "b": original, "none": [0.0] * 100})
    table = comparison_table(rows, seed=0, smallest_effect=0.05, resamples=500)
    assert find(table, arm_a="a", arm_b="b").conclusion == "equivalent"


def test_the_bounds_that_decide_are_told_with_their_level() -> None:
    """Those at 95% leave out 0 where those within the family, which decide, may not."""
    table = comparison_table(rows_of(), seed=1, resamples=500, baseline="none")
    decided = [row for row in table if row.conclusion in ("a better", "b better", "differs")]
    means = case_means(rows_of())
    assert decided
    for row in table:
        told = (row.family_low, row.family_high, row.family_level)
        if row not in decided and row.reason != SKEWED:
            assert told == (None, None, None)
            continue
        assert row.permutation_p
        assert row.holm_p
        level = 1 - 0.05 * row.permutation_p / row.holm_p
        columns = [means.column(row.budget, arm, row.axis) for arm in (row.arm_a, row.arm_b)]
        amount = row.axis == "tokens"
        bounds = paired_bounds(*columns, amount=amount, alpha=0.05 * row.permutation_p / row.holm_p)
        assert told == (bounds.low, bounds.high, level)
        assert row.bound_low is not None
        assert row.family_low is not None
        assert row.family_low <= row.bound_low


@pytest.mark.slow
def test_skewed_differences_make_no_winner_by_p_alone() -> None:
    """A true null: one case in 25 loses all that the others gain. p rejects it too often."""
    rng = np.random.default_rng(7)
    rejected = won = 0
    for _ in range(150):
        differences = np.where(rng.random(50) < 0.04, -0.96, 0.04) * rng.uniform(0.5, 1.5, 50)
        base = 0.5 - differences / 2
        row = conclude((base + differences).clip(0, 1).tolist(), base.clip(0, 1).tolist())
        rejected += row.permutation_p is not None and row.permutation_p < 0.05
        won += row.conclusion in ("a better", "b better")
    assert rejected > 0.1 * 150
    assert won <= 0.05 * 150


def test_skewed_differences_make_no_winner_in_a_family_either() -> None:
    """20 true nulls in one family: bounds at 95% called one of them better in 3 of these draws."""
    won = 0
    for draw in range(20):
        rng = np.random.default_rng(draw)
        kept = rng.random((200, 20)) >= 0.04
        values: dict[str, list[float | None]] = {"base": [0.96] * 200}
        values |= {f"a{i:02}": kept[:, i].astype(float).tolist() for i in range(20)}
        table = comparison_table(rows_from(values), seed=draw, baseline="base", resamples=1000)
        won += any(row.conclusion in ("a better", "b better") for row in table)
    assert won <= 1


def test_cannot_conclude_counts_the_family() -> None:
    eight: dict[str, list[float | None]] = {"a": [1.0] * 8, "b": [0.0] * 8}
    (row,) = comparison_table(rows_from(eight), seed=0)
    assert (row.permutation_p, row.conclusion) == (2.0**-7, "a better")
    for extra in ("c", "d", "e"):  # ten pairs: 10 / 128 is above .05
        eight[extra] = [0.0] * 8
    table = comparison_table(rows_from(eight), seed=0)
    assert {r.smallest_holm_p for r in table} == {10 / 128}
    assert {r.conclusion for r in table} == {"cannot conclude"}
    assert table[0].reason == "8 cases reach p 0.0078 at best (exact), 0.078 after Holm"
    one = comparison_table(rows_from({"a": [1.0], "b": [0.0]}), seed=0)
    assert one[0].reason.startswith("1 case reaches p ")


def test_nothing_to_test_is_no_member_of_the_family() -> None:
    undefined: list[float | None] = [None] * 8
    table = comparison_table(
        rows_from({"a": [1.0] * 8, "b": [0.0] * 8, "never": undefined}), seed=0
    )
    empty = find(table, arm_a="a", arm_b="never")
    assert (empty.n, empty.n_undefined, empty.delta, empty.holm_p) == (0, 8, None, None)
    assert (empty.conclusion, empty.ci_method) == ("cannot conclude", "undefined: no cases")
    assert find(table, arm_a="a", arm_b="b").holm_p == 2.0**-7


def test_repeats_are_averaged_within_their_case() -> None:
    rows = rows_from({"a": [1.0, 0.0, None], "b": [0.0, 0.0, 0.0]})
    rows += rows_from({"a": [0.0, None, None]})
    means = case_means(rows)
    assert means.column("tight", "a", "axis") == {"000": 0.5, "001": 0.0, "002": None}
    (row,) = comparison_table(rows, seed=0)
    assert (row.n, row.n_undefined, row.mean_a) == (2, 1, 0.25)


def test_budgets_are_never_pooled() -> None:
    rows = rows_from({"a": [1.0] * 6, "b": [0.0] * 6})
    rows += [{**row, "budget": "loose", "axes": {"axis": 1.0}} for row in rows]
    table = comparison_table(rows, seed=0)
    assert [(r.budget, r.delta, r.n) for r in table] == [("loose", 0.0, 6), ("tight", 1.0, 6)]


def test_clusters_reach_the_statistics() -> None:
    clusters = [f"twin-{i // 2}" for i in range(40)]
    (row,) = comparison_table(
        rows_from({"a": [1.0, 0.5] * 20, "b": [0.5, 0.25] * 20}, clusters), seed=0
    )
    assert (row.n, row.n_clusters, row.smallest_p) == (40, 20, 2.0**-19)
    with pytest.raises(UserError, match="case 000 is in two clusters: twin-0 and other"):
        comparison_table(
            rows_from({"a": [1.0]}, clusters) + rows_from({"b": [1.0]}, ["other"]), seed=0
        )


def test_different_case_sets_are_an_error() -> None:
    rows = rows_from({"a": [1.0, 0.0], "b": [1.0]})
    with pytest.raises(UnpairedCases, match=r"1 missing in the second \(001\)"):
        comparison_table(rows, seed=0)


def test_unknown_names_are_the_users_mistake() -> None:
    rows = rows_from({"a": [1.0], "b": [1.0]})
    with pytest.raises(UserError, match="baseline 'sum' is not among the arms: a, b"):
        comparison_table(rows, seed=0, baseline="sum")
    with pytest.raises(UserError, match="no row holds axis 'frq'; measured: axis"):
        comparison_table(rows, seed=0, axes=["frq"])


def test_an_axis_of_one_arm_only_is_undefined_for_the_other() -> None:
    rows = rows_from({"a": [1.0], "b": [1.0], "c": [1.0]})
    rows[0]["axes"]["recall"] = 0.5
    table = comparison_table(rows, seed=0)
    recall = [(r.arm_a, r.arm_b, r.n) for r in table if r.axis == "recall"]
    assert recall == [("a", "b", 0), ("a", "c", 0)]


def test_no_rows_and_one_arm_give_an_empty_table() -> None:
    assert comparison_table([], seed=0) == []
    assert comparison_table(rows_from({"a": [1.0]}), seed=0, baseline="a") == []


def test_rows_are_plain_json() -> None:
    table = comparison_table(rows_of(n=3), seed=0, resamples=50)
    assert json.loads(json.dumps([asdict(r) for r in table], allow_nan=False))
