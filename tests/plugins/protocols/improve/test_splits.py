"""Splits: disjoint, stratified by largest remainders, decided by the seed alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.protocols.improve.splits import largest_remainders, split

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


CLUSTERED = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 20)), min_size=12, max_size=120
)


@given(CLUSTERED, st.integers(0, 5), st.data())
def test_no_two_splits_share_a_cluster(
    cases: list[tuple[str, int]], seed: int, data: st.DataObject
) -> None:
    strata = [stratum for stratum, _ in cases]
    clusters = [f"g{cluster}" if cluster else None for _, cluster in cases]
    sizes = tuple(data.draw(st.integers(0, len(cases) // 4)) for _ in range(3))
    pool = range(len(cases))
    try:
        found = split(pool, strata, sizes, seed, clusters)  # type: ignore[arg-type]
    except ValueError:  # whole clusters do not fill the splits
        return
    parts = [found.optimize, found.confirm, found.test]
    assert [len(part) for part in parts] == list(sizes)
    everyone = [i for part in (*parts, found.rest) for i in part]
    assert len(everyone) == len(set(everyone))
    names = [{clusters[i] for i in part} - {None} for part in parts]
    assert not names[0] & names[1]
    assert not (names[0] | names[1]) & names[2]
    assert not names[0] & {clusters[i] for i in found.rest}
    assert found == split(pool, strata, sizes, seed, clusters)  # type: ignore[arg-type]


def test_cases_that_stand_alone_are_dealt_as_without_clusters() -> None:
    strata = ["a", "b", "b"] * 20
    alone = [f"g{i}" for i in range(60)]
    for clusters in (alone, [None] * 60):
        assert split(range(60), strata, (10, 20, 20), 3, clusters) == split(
            range(60), strata, (10, 20, 20), 3
        )


@pytest.mark.parametrize("seed", range(20))
def test_whole_clusters_fill_the_splits_in_the_shares_of_the_strata(seed: int) -> None:
    """77 templates of 1 to 8 questions, as questions over a database come: 250 of 272 are dealt."""
    sizes = [8, 8, 7, 7, 6, 6, 5, 5, *[4] * 40, *[2] * 28]
    strata = [
        ("join", "join", "filter", "order")[g % 4] for g, n in enumerate(sizes) for _ in range(n)
    ]
    clusters = [f"g{g}" for g, n in enumerate(sizes) for _ in range(n)]
    wanted = (45, 95, 95)
    found = split(range(len(strata)), strata, wanted, seed, clusters)
    whole = Counter(strata)
    for part, size in zip((found.optimize, found.confirm, found.test), wanted, strict=True):
        assert len(part) == size
        counts = Counter(strata[i] for i in part)
        for stratum, n in whole.items():
            assert abs(counts[stratum] - n * size / len(strata)) <= 4
    others = [split(range(len(strata)), strata, wanted, s, clusters).test for s in (seed, seed + 1)]
    assert others[0] != others[1]


def test_clusters_that_are_too_large_are_told() -> None:
    with pytest.raises(
        ValueError, match="8 cases wanted in 3 splits that share no cluster, 2 more"
    ):
        split(range(10), ["a"] * 10, (2, 3, 3), 1, ["g"] * 5 + ["h"] * 5)
