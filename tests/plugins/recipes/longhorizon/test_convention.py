from __future__ import annotations

from typing import Any

import pytest

from framework.errors import UserError
from plugins.recipes.longhorizon.convention import PublishedDraws, published_table


def rows(arm: str, budget: str, **axes: list[float | None]) -> list[dict[str, Any]]:
    n = max(map(len, axes.values()))
    return [
        {
            "case_id": f"c{i}",
            "arm": arm,
            "budget": budget,
            "axes": {axis: values[i] for axis, values in axes.items()},
        }
        for i in range(n)
    ]


ONE = [1.0, 0.5, 1.0, 0.0, 1.0, 1.0]
TWO = [0.0, 0.5, 1.0, 0.0, 0.4, 0.0]
TABLE = [
    *rows("a", "tight", eda=ONE, frp=TWO),
    *rows("b", "tight", eda=TWO, frp=ONE),
    *rows("a", "loose", eda=TWO, frp=ONE),
    *rows("b", "loose", eda=[0.0] * 6, frp=ONE),
]


def test_a_case_at_each_budget_is_a_unit_and_one_generator_serves_the_table() -> None:
    found = published_table(TABLE, axes=["eda", "frp"])
    assert [(row.arm_a, row.arm_b, row.axis, row.found.n) for row in found] == [
        ("a", "b", "eda", 12),
        ("a", "b", "frp", 12),
    ]
    convention = PublishedDraws()
    for row in found:
        sides = [
            {
                f"{r['case_id']} at {r['budget']}": r["axes"][row.axis]
                for r in TABLE
                if r["arm"] == arm
            }
            for arm in "ab"
        ]
        assert row.found == convention.compare(*sides)
    # Alone, the second comparison draws what the first drew: its interval may differ, no fact does.
    (alone,) = published_table(TABLE, axes=["frp"])
    assert alone.found.delta == found[1].found.delta
    assert alone.found == PublishedDraws().compare(*sides)


def test_a_p_can_be_0_as_published_and_half_is_a_success() -> None:
    (row,) = published_table([*rows("a", "t", eda=[1.0] * 40), *rows("b", "t", eda=[0.5] * 40)])
    assert row.found.permutation_p == 0
    assert row.found.mcnemar_p == 1.0


def test_what_the_convention_does_not_know_is_left_out() -> None:
    undefined = [None, None, *ONE[2:]]
    found = published_table(
        [
            *rows("a", "t", eda=undefined, tokens=[9.0] * 6, never=[None] * 6),
            *rows("b", "t", eda=TWO, tokens=[8.0] * 6, never=[None] * 6),
            *rows("c", "elsewhere", eda=TWO, tokens=[8.0] * 6, never=[None] * 6),
        ]
    )
    assert [(row.arm_a, row.arm_b, row.axis, row.found.n) for row in found] == [
        ("a", "b", "eda", 4)
    ]


def test_a_baseline_is_the_second_of_each_pair() -> None:
    many = [r for arm in "abc" for r in rows(arm, "t", eda=ONE if arm == "b" else TWO)]
    found = published_table(many, baseline="b")
    assert [(row.arm_a, row.arm_b) for row in found] == [("a", "b"), ("c", "b")]
    assert found[0].found.delta < 0
    with pytest.raises(UserError, match="baseline 'x'"):
        published_table(many, baseline="x")
