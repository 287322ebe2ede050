"""The two halves of a domain's cases have nothing in common, and nothing is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.config import plan
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import open_domain
from framework.engine.prepare import part_named, prepare
from framework.errors import UserError
from framework.records import Case, Gold, TaskCard
from plugins.tuning.parts import halves, units


def case(index: int, history: str, cluster: str = "", stratum: str = "") -> Case:
    task = TaskCard(instruction="", query="", operation="decide")
    return Case(
        id=f"c{index}",
        history_id=history,
        task=task,
        gold=Gold(),
        cluster=cluster,
        stratum=stratum,
    )


def of_domain(name: str, n: int) -> list[Case]:
    with composer():
        domain = open_domain(compose_plan([f"domain={name}"]))
        return list(domain.cases(n, 7))


def shared(halves_: tuple[list[Case], list[Case]], key: str) -> set[Any]:
    first, second = ({getattr(one, key) for one in half} - {""} for half in halves_)
    return first & second


@pytest.mark.parametrize(
    ("name", "one_history"),
    [("loan", False), ("governance", False), ("codebase", True), ("text_to_sql", True)],
)
def test_no_history_and_no_cluster_is_in_both_halves(name: str, one_history: bool) -> None:
    cases = of_domain(name, 40)
    found = halves(cases, 7)
    assert not shared(found, "id")
    assert not shared(found, "cluster")
    assert bool(shared(found, "history_id")) is one_history
    assert sorted(one.id for half in found for one in half) == sorted(one.id for one in cases)
    assert abs(len(found[0]) - len(found[1])) <= max(map(len, units(cases)))


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from("ab")), max_size=40),
    st.integers(0, 100),
)
def test_whatever_is_shared_step_by_step_stays_together(
    drawn: list[tuple[int, int, str]], seed: int
) -> None:
    cases = [case(i, f"h{h}", f"k{k}" if k else "", s) for i, (h, k, s) in enumerate(drawn)]
    if len(units(cases)) < 2:
        with pytest.raises(UserError, match="in one history or cluster"):
            halves(cases, seed)
        return
    found = halves(cases, seed)
    assert Counter(one.id for half in found for one in half) == Counter(one.id for one in cases)
    assert all(found)
    assert not shared(found, "cluster")
    assert len({one.history_id for one in cases}) == 1 or not shared(found, "history_id")
    assert found == halves(cases, seed)


def test_the_halves_hold_as_many_of_every_stratum() -> None:
    cases = [case(i, f"h{i}", stratum="abcd"[i % 4]) for i in range(80)]
    for half in halves(cases, 3):
        assert Counter(one.stratum for one in half) == dict.fromkeys("abcd", 10)
    assert halves(cases, 3) != halves(cases, 4)


def test_a_run_of_a_part_has_its_cases_and_one_without_is_what_it_was() -> None:
    given = ["domain=loan", "n_cases=10"]
    with composer():
        whole = compose_plan(given)
        tuning = compose_plan([*given, "part=tuning"])
        found = [one.id for one in prepare(tuning).cases]
        assert part_named("tuning").about(10) == len(found)
        assert found == [one.id for one in halves(list(prepare(whole).cases), 7)[0]]
    assert "part" not in whole.identity, "the identity of runs from before there were parts"
    assert whole.digest != tuning.digest
    before = {key: value for key, value in whole.config.items() if key != "part"}
    assert plan(before).digest == replace(whole).digest


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["part=tunig"], "part: no part 'tunig'; did you mean 'tuning'?"),
        (["part=tuning", "n_cases=1"], "part: 1 case in one history or cluster"),
        (["part=tuning", "protocol=improve"], "part=tuning: the protocol divides the cases itself"),
    ],
)
def test_mistakes(given: list[str], told: str) -> None:
    with composer(), pytest.raises(UserError) as raised:
        next(iter(prepare(compose_plan(given)).cases))
    assert told in str(raised.value)
