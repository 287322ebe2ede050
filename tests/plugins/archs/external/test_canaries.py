"""Every seeded fault of an adapter is caught by name, and a sound system passes all canaries."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework.contracts.probe import Finding
from framework.records import Event
from plugins.archs.bm25 import BM25
from plugins.archs.external import canaries
from plugins.archs.external._kept import keep, kept
from plugins.archs.external._mapping import Found
from plugins.archs.external._settings import CommandSettings, Models
from plugins.archs.external.canaries import Canaries, check
from plugins.archs.external.http import HttpMemory, HttpSettings
from plugins.archs.external.process import ProcessMemory, ProcessSettings
from tests.launching import framework
from tests.plugins.archs.external.systems import SHELL, TOY, toy
from tests.plugins.archs.external.toy import FAULTS

CAUGHT = {
    "empty_recall": "recalls",
    "lost_writes": "recalls",
    "only_newest": "recalls",
    "newest_hundred": "many",
    "same_answer": "recalls",
    "digits_lost": "recalls",
    "no_case": "verbatim",
    "one_line": "verbatim",
    "one_stretch": "question",
    "no_distinction": "distractors",
    "dropped_dates": "dates",
    "leaked_tenant": "tenants",
    "ignored_limit": "limit",
    "capped": "plenty",
    "limit_as_text": "plenty",
    "stale_store": "fresh",
    "deaf_reset": "reset",
    "deaf_forget": "forget",
    "forgets_all": "forget",
    "late_index": "late",
    "truncated_text": "whole",
    "ascii_only": "unicode",
    "wrong_order": "order",
    "twice": "duplicates",
    "forgets_found": "repeats",
    "shuffled": "repeats",
    "frozen_index": "late",
    "swapped_ids": "ids",
    "invents": "empty",
    "crash": "answers",
    "hang": "answers",
    "flood": "answers",
    "talks": "answers",
}


def findings(settings: CommandSettings, slow: bool = False) -> list[Finding]:
    return list(Canaries().run(ProcessMemory, settings, slow))


def failed(found: list[Finding]) -> dict[str, str]:
    return {one.name: one.text for one in found if one.passed is False}


@pytest.mark.slow
def test_ids_of_no_event_are_counted_apart() -> None:
    """The words trace such results, so that nothing is wrong with them but what was declared."""

    class Echo:
        def __init__(self) -> None:
            self.texts: list[str] = []

        def write(self, event: Event) -> None:
            self.texts.append(event.text)

        def search(self, query: str, limit: int) -> list[Found]:
            return [Found(text=one, ids=("s-1",)) for one in self.texts[:2]]

    stand: Any = SimpleNamespace(open=Echo)
    n = 2 * len(canaries.facts())
    said = f"of {n} results 0 have an event's id, {n} an id of no event, "
    assert canaries.ids(stand) == f"{said}{n} can be traced by their words"


@pytest.mark.parametrize(
    ("settings", "deletion"),
    [
        (ProcessSettings(command=SHELL), "no deletion is declared (`forgets`)"),
        (toy(forgets=True), "a deleted fact is found no more, 3 others still are"),
    ],
    ids=["sh", "python"],
)
def test_a_sound_system_passes_all(settings: ProcessSettings, deletion: str) -> None:
    found = findings(settings)
    assert failed(found) == {}
    assert len(found) == 22
    assert [one.text for one in found if one.name == "forget"] == [deletion]
    assert [one.text for one in found if one.name == "tools"] == ["write, retrieve, reset, close"]


def test_every_fault_has_a_canary() -> None:
    assert CAUGHT.keys() == FAULTS.keys()
    assert len(FAULTS) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught_by_name(fault: str, tmp_path: Path) -> None:
    seconds = 1.0 if fault in ("hang", "talks") else 30.0
    store = str(tmp_path / "store")
    settings = toy("--fault", fault, "--store", store, timeout_seconds=seconds, forgets=True)
    finding = check(CAUGHT[fault], ProcessMemory, settings)
    assert finding.passed is False, finding.text
    assert check(CAUGHT[fault], ProcessMemory, toy(forgets=True)).passed


@pytest.mark.parametrize(
    ("fault", "name", "said"),
    [
        ("deaf_forget", "forget", "a fact was deleted, and 'QX-87109' is found within 0.1 s"),
        ("forgets_all", "forget", "after another was deleted: 'QX-95028' is not among 0 results"),
        ("frozen_index", "late", "is not found, nor within 0.1 s"),
        ("empty_recall", "recalls", "of 24 facts 24 ('locker of Marta Ilves' first) were not "
         "found, nor within 0.1 s"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(
    fault: str, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canaries, "_SOON_S", 0.1)
    monkeypatch.setattr(canaries, "_EVERY_S", 0.01)
    finding = check(name, ProcessMemory, toy("--fault", fault, forgets=True))
    assert finding.passed is False
    assert said in finding.text


@pytest.mark.parametrize("name", ["recalls", "late"])
def test_what_is_found_a_moment_later_is_told_with_what_makes_a_search_wait(name: str) -> None:
    finding = check(name, ProcessMemory, toy("--fault", "late_index"))
    assert finding.passed is False
    said = "s later: it has to answer a write only when that can be found"
    assert re.search(rf" at once, but \d\.\d {said}$", finding.text), finding.text


@pytest.mark.parametrize(
    ("words", "declared", "passed", "said"),
    [
        ((), True, True, "gave the same results, as declared"),
        (("--fault", "shuffled"), True, False, "declared deterministic, and two runs"),
        ((), False, None, "not declared; two runs of a small history gave the same results"),
        (("--fault", "shuffled"), False, None, "not declared; two runs"),
    ],
    ids=["kept", "broken", "not declared", "not declared, by chance"],
)
def test_a_declaration_that_results_repeat_is_checked(
    words: tuple[str, ...], declared: bool, passed: bool | None, said: str
) -> None:
    finding = check("deterministic", ProcessMemory, toy(*words, deterministic=declared))
    assert finding.passed is passed
    assert said in finding.text


@pytest.mark.slow
def test_a_sound_system_finds_one_fact_among_ten_thousand() -> None:
    found = findings(toy(), slow=True)
    assert failed(found) == {}
    assert found[-1].name == "many"


@pytest.mark.slow
def test_the_command_prints_each_finding_and_fails_with_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def mapping(name: str, *words: str) -> None:
        held: dict[str, Any] = {"defaults": ["process", "_self_"], "command": [*TOY, *words]}
        (tmp_path / f"arch/{name}.yaml").write_text(json.dumps(held))

    (tmp_path / "arch").mkdir()
    mapping("sound")
    mapping("broken", "--fault", "ignored_limit")
    done = framework(capsys, "probe", "sound", "--config-dir", str(tmp_path))
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1] == "sound: all passed"
    done = framework(capsys, "probe", "broken", "--config-dir", str(tmp_path))
    assert done.status == 1
    assert "FAIL  limit" in done.out
    assert "3 results were asked for, 24 came" in done.out


def test_only_systems_of_others_are_probed(capsys: pytest.CaptureFixture[str]) -> None:
    assert not Canaries().fits(BM25)
    assert framework(capsys, "probe", "bm25").mistake == "arch=bm25: there is nothing to probe"
    assert "did you mean 'bm25'" in framework(capsys, "probe", "bm52").mistake


@pytest.mark.parametrize(
    ("arch", "settings", "why"),
    [
        (ProcessMemory, CommandSettings(command=SHELL, canaries=False), "arch.canaries=false"),
        (ProcessMemory, CommandSettings(models=Models(chat=True)), "its writes ask the model"),
        (HttpMemory, HttpSettings(address="http://127.0.0.1:1"), "it is a server that others"),
    ],
)
def test_a_run_leaves_out_canaries_that_someone_pays_for(
    arch: Any, settings: Any, why: str
) -> None:
    def context() -> Any:
        raise AssertionError("no model is made where none is asked")

    (finding,) = Canaries().before_run(arch, settings, context)
    assert finding.passed is None
    assert finding.text.startswith(f"not asked: {why}")


def test_canaries_of_an_embedder_that_replays_are_not_asked() -> None:
    given: Any = SimpleNamespace(embedder=SimpleNamespace(settings=SimpleNamespace(replay=True)))
    settings = CommandSettings(command=SHELL, models=Models(embeddings=True))
    (finding,) = Canaries().before_run(ProcessMemory, settings, lambda: given)
    assert finding.text == "not asked: embedder.replay=true has no vectors of theirs"


def test_what_passed_is_kept_and_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    place = tmp_path / "kept" / "one.json"
    passed, failed = (Finding(name="limit", passed=it, text="x") for it in (True, False))
    assert kept(place) == []
    keep(place, [passed, failed])
    assert kept(place) == [], "what failed is asked again"
    keep(place, [passed])
    first, told = kept(place)
    assert (first, told.name) == (passed, "kept")
    for damaged in ("", "[]", '{"findings": [{"name": 1, "more": 2}], "time": ""}'):
        place.write_text(damaged)
        assert kept(place) == []
    keep(Path("/dev/null/kept/one.json"), [passed])  # no disk for it: it is asked again
