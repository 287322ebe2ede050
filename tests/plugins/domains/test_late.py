"""Cases of a generator are made when they are looked at: their ids cost nothing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.engine.compose import compose_plan, composer
from framework.engine.domains import open_domain
from framework.records import Case, Gold, TaskCard
from framework.rows import Row
from framework.store.directory import RunDirectory
from framework.store.state import load_state, read_run
from plugins.domains.late import late_case
from plugins.domains.regulated.domain import Regulated
from plugins.sharding.part import Shard
from tests.launching import run

MADE = Case(
    id="c", history_id="h", task=TaskCard(instruction="i", query="q"), gold=Gold(), tags={"a": "b"}
)


def counted_case() -> tuple[Case, list[int]]:
    calls: list[int] = []

    def make() -> Case:
        calls.append(1)
        return MADE

    return late_case("c", "h", make), calls


def test_ids_are_there_and_the_rest_is_made_once() -> None:
    case, calls = counted_case()
    assert (case.id, case.history_id) == ("c", "h")
    assert not calls
    assert case.tags == {"a": "b"}
    assert (case.task, case.gold, case.stratum, case.depth) == (MADE.task, MADE.gold, "all", None)
    assert calls == [1]
    with pytest.raises(AttributeError):
        _ = case.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "same",
    [lambda c: c, copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c)), replace],
)
def test_it_is_the_case_that_it_becomes(same: Callable[[Case], Case]) -> None:
    found = same(counted_case()[0])
    assert found == MADE
    assert found == MADE
    assert replace(found, stratum="x") == replace(MADE, stratum="x") != found
    assert repr(found) == repr(MADE)
    assert found != "c"


@pytest.mark.parametrize(
    "words", [["domain=loan"], ["domain=governance", "domain.tasks_per_history=2"]], ids=str
)
def test_the_ids_given_early_are_those_of_the_case(words: list[str]) -> None:
    with composer():
        domain: Any = open_domain(compose_plan(words))
    for index, case in enumerate(domain.cases(6, 3)):
        early = case.id, case.history_id
        made = domain.case(3, index)
        assert early == (made.id, made.history_id)
        assert case == made


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of all loans that are made from now on."""
    found: list[str] = []
    own: Any = Regulated.case

    def case(self: Regulated, seed: int, index: int, rendering: int = 0) -> Case:
        one: Case = own(self, seed, index, rendering)
        found.append(one.id)
        return one

    monkeypatch.setattr(Regulated, "case", case)
    return found


def test_a_shard_makes_the_cases_that_it_is_dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    with composer():
        domain = open_domain(compose_plan(["domain=loan"]))
    made = counted(monkeypatch)
    assert not made
    mine = list(Shard("2/3").of(domain.cases(9, 7), 7))
    assert [case.stratum for case in mine]
    assert made == [case.id for case in mine]
    assert len(made) == 3


def test_a_run_that_goes_on_makes_no_case_that_it_has_measured(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Killed(BaseException):
        """Stands for the end of the process."""

    add = RunDirectory.add

    def dying(self: RunDirectory, row: Row, record: Mapping[str, Any]) -> None:
        add(self, row, record)
        if row.case_id.endswith("000007"):
            raise Killed

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(RunDirectory, "add", dying)
    words = ["domain=loan", "domain.tokens=2000", "arch=none", "protocol=retrieve", "n_cases=12"]
    with pytest.raises(Killed):
        run(capsys, *words, "tracking=none", "report=false", "hydra.run.dir=cut")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    done = {row.case_id for row in load_state(Path("cut")).rows}
    assert 8 <= len(done) < 12

    again = counted(monkeypatch)
    assert run(capsys, "resume=cut").status == 0
    assert len(read_run(Path("cut")).rows) == 12
    assert {"loan-s7-000008", "loan-s7-000011"} <= set(again)
    assert done & set(again) <= {"loan-s7-000000"}, "the check before a run looks at the first"
