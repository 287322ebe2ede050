"""Splits: disjoint, stratified by largest remainders, decided by the seed alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.improve.splits import largest_remainders, split

STRATA = st.lists(st.sampled_from("abcd"), min_size=3, max_size=80)


@given(STRATA, st.integers(0, 5), st.data())
def test_splits_are_disjoint_and_lose_nobody(strata: list[str], seed: int, data: st.DataObject):  # type: ignore[no-untyped-def]
    third = len(strata) // 3
    sizes = tuple(data.draw(st.integers(0, third)) for _ in range(3))
    found = split(range(len(strata)), strata, sizes, seed)  # type: ignore[arg-type]
    parts = [found.optimize, found.confirm, found.test, found.rest]
    assert [len(part) for part in parts[:3]] == list(sizes)
    assert sorted(i for part in parts for i in part) == list(range(len(strata)))
    assert found == split(range(len(strata)), strata, sizes, seed)  # type: ignore[arg-type]
    first = Counter(strata[i] for i in found.optimize)
    whole = Counter(strata)
    for stratum, n in whole.items():  # within one of its share
        assert abs(first[stratum] - n * sizes[0] / len(strata)) < 1


def test_another_seed_deals_otherwise() -> None:
    strata = ["a", "b"] * 20
    one, two = (split(range(40), strata, (10, 10, 10), seed) for seed in (1, 2))
    assert one.optimize != two.optimize


def test_seats_go_to_the_largest_remainders() -> None:
    assert largest_remainders({"a": 47, "b": 16, "c": 16, "d": 12, "e": 6, "f": 3}, 10) == {
        "a": 5, "b": 2, "c": 2, "d": 1, "e": 0, "f": 0,
    }  # fmt: skip
    assert largest_remainders({"a": 1, "b": 1}, 1) == {"a": 1, "b": 0}


def test_too_few_cases_are_told() -> None:
    with pytest.raises(ValueError, match="11 cases wanted, 10 there"):
        split(range(10), ["a"] * 10, (4, 4, 3), 1)
