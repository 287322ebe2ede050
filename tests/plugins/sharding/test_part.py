"""Dealing cases into shards: whole histories, every case once, without reading ahead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from framework.engine.compose import compose_plan, composer
from framework.engine.domains import open_domain
from framework.errors import UserError
from framework.records import Case
from plugins.sharding.part import Shard, dealt


def cases_of(domain: str, n: int) -> Iterator[Case]:
    with composer():
        return open_domain(compose_plan([f"domain={domain}"])).cases(n, 7)


def test_every_case_is_of_one_shard_with_all_of_its_history() -> None:
    cases = list(cases_of("governance", 40))
    shards = [list(Shard(f"{number}/3").of(cases, 7)) for number in (1, 2, 3)]
    assert sorted(c.id for shard in shards for c in shard) == sorted(c.id for c in cases)
    assert all(shards)
    histories = [{case.history_id for case in shard} for shard in shards]
    assert sum(map(len, histories)) == len({case.history_id for case in cases}) == 4
    for shard in shards:
        assert shard == [case for case in cases if case in shard], "in their order"


def test_cases_are_dealt_as_they_come() -> None:
    drawn = cases_of("loan", 10**9)
    assert [number for _, number in islice(dealt(drawn, 3), 7)] == [1, 2, 3, 1, 2, 3, 1]


@pytest.mark.parametrize("n", [1, 3, 39, 40, 41])
def test_about_how_many_there_are_is_how_many_where_each_history_has_one_case(n: int) -> None:
    sizes = [len([*Shard(f"{i}/3").of(cases_of("loan", n), 7)]) for i in (1, 2, 3)]
    assert Shard("1/3").about(n) == sizes[0]
    assert all(0 <= Shard(f"{i + 1}/3").about(n) - size <= 1 for i, size in enumerate(sizes))


@pytest.mark.parametrize("given", ["", "0/3", "4/3", "1/0", "1", "a/b", "-1/3", "1/3/5", "1.5/3"])
def test_which_of_how_many_is_refused_where_it_is_neither(given: str) -> None:
    with pytest.raises(UserError, match="number/total expected, as shard:3/8"):
        Shard(given)
