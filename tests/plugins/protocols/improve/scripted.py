"""A domain whose every answer is told beforehand, so that a loop's whole course can be scripted.

A case names the states of the prompt under which it is answered right. The state is the last word
of the instruction: an edit that adds the text `a` puts the reader into state `a`. So what an edit
does to every single case is known, and does not depend on the edits before it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pytest

from framework.config import Plan, plan
from framework.contracts import (
    Domain,
    Evidence,
    Outcome,
    Profile,
    Prompt,
    Provenance,
    Rule,
    Target,
    Taxonomy,
)
from framework.engine.run import execute
from framework.operations.answering import AnsweringOperation, AnswerRequest
from framework.records import Answer, Case, Event, Gold, Row, TaskCard
from framework.registry import register
from framework.store import JOURNAL, JournalEvent
from framework.store.state import protocol_events
from framework.text.canonical import digest
from plugins.protocols.improve.splits import split
from plugins.targets.retrieval import retrieval_taxonomy
from tests import trivial

BASE = "base"


@dataclass(frozen=True)
class ScriptSettings:
    """`right`: by state, the indices of the cases that are right in it, as `0-69,80`."""

    right: Mapping[str, str]
    kinds: int = 1


def indices(text: str) -> set[int]:
    """`0-2,5` as {0, 1, 2, 5}."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


@register("domain", "script")
class ScriptDomain(Domain[ScriptSettings]):
    """Cases 0, 1, 2, ..., each right in the states that its task card names."""

    provenance = Provenance(source="a test's script", revision="1", licence="MIT", citation="none")
    provides = ("trivial",)
    headline = ("right",)

    @property
    def nominal_tokens(self) -> int:
        return 100

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        states = {state: indices(text) for state, text in self.settings.right.items()}
        for i in range(1000 if n is None else n):
            right = sorted(state for state, those in states.items() if i in those)
            task = TaskCard(
                instruction=BASE,
                query=f"case {i}",
                decisions=("YES", "NO"),
                default_decision="NO",
                operation="script",
                material={"right": " ".join(right)},
            )
            kind = f"kind{i % self.settings.kinds}"
            yield Case(
                id=f"c{i:04d}", history_id="h", task=task, gold=Gold(decision="YES"), stratum=kind
            )

    def history(self, history_id: str) -> Iterator[Event]:
        yield Event(id="e0", text="Nothing.", time="2026-01-01", kind="note")

    def digest(self) -> str:
        return digest(dict(self.settings.right))


@register("operation", "script")
class ScriptOperation(AnsweringOperation[str]):
    """YES or NO, by rule."""

    name: ClassVar[str] = "script"

    def prompt(self, request: AnswerRequest) -> Prompt:
        return Prompt(system="", user=f"{request.task.instruction}\n{request.task.query}")

    def parse(self, text: str, request: AnswerRequest) -> str:
        return text

    def render(self, response: str) -> str:
        return response

    def answer_of(self, response: str, task: TaskCard) -> Answer:
        return Answer(decision=response)


@register("rule", "script")
class ScriptRule(Rule[AnswerRequest, str]):
    """YES in the states that the card names, else NO."""

    def answer(self, request: AnswerRequest, profile: Profile) -> str:
        state = request.task.instruction.split()[-1]
        return "YES" if state in request.task.material["right"].split() else "NO"


@register("target", "script")
class ScriptTarget(Target[Any]):
    """Every failure is the reader's: its evidence is said to be in the view."""

    @cached_property
    def taxonomy(self) -> Taxonomy:
        return retrieval_taxonomy()

    def outcome(self, case: Case, row: Row, record: Mapping[str, Any]) -> Outcome:
        prompts = [p["user"] for p in record.get("prompts", ())]
        return Outcome(
            case_id=case.id,
            kind=self.kind(case),
            correct=row.axes.get("right") == 1.0,
            turns=(Evidence(id="e0", rank=1, in_view=True),),
            question=case.task.query,
            answer=row.decision,
            request=digest(prompts),
            response=digest(row.decision),
            error=row.error,
        )


assert trivial.CARD, "importing it registers the plugins that stand around the script"


def prompt(text: str) -> dict[str, Any]:
    """A draft that puts the reader into the state `text`."""
    return {"seam": "reader_prompt", "fragments": {"guidance": text}}


SIZES = {"optimize": 10, "confirm": 20, "test": 10}


def script_plan(right: Mapping[str, Mapping[str, str]], drafts: list[Any], **changed: Any) -> Plan:
    """A loop over a script; `changed` replaces groups, and `protocol` its settings.

    `right` says, by state and split, which of the split's cases are right, counted from 0.
    """
    protocol = {"plugin": "improve", "max_attempts": 50, "max_candidates": 50, "pool": 40}
    domain = changed.pop("domain", "script")
    protocol |= {"consolidate": False, **SIZES, **changed.pop("protocol", {})}
    kinds = changed.pop("kinds", 1)
    pool = range(protocol["pool"])
    sizes = (protocol["optimize"], protocol["confirm"], protocol["test"])
    dealt = split(pool, [(f"kind{i % kinds}", False) for i in pool], sizes, 7)
    flat = {
        state: ",".join(
            str(getattr(dealt, name)[i]) for name, text in by.items() for i in indices(text)
        )
        for state, by in right.items()
    }
    config: dict[str, Any] = {
        "seed": 7,
        "domain": {"plugin": domain, "right": flat, "kinds": kinds},
        **{g: {"plugin": "trivial"} for g in ("arch", "budget", "model", "tracking")},
        "reader": {"plugin": "commit"},
        "judge": {"plugin": "rules"},
        "gate": {"plugin": "heldout"},
        "target": {"plugin": "script"},
        "author": {"plugin": "scripted", "drafts": drafts},
        "routing": {"plugin": "regime"},
        "protocol": protocol,
    }
    return plan({**config, **changed})


@dataclass(frozen=True, slots=True)
class Finished:
    """A loop that ended: its directory, events without rows, and improve.json."""

    path: Path
    events: list[JournalEvent]
    results: dict[str, Any]

    def of(self, type_: str) -> list[Mapping[str, Any]]:
        """Payloads of one type."""
        return [event.payload for event in self.events if event.type == type_]


def told(events: Iterable[JournalEvent]) -> list[tuple[str, Mapping[str, Any]]]:
    """Types and payloads, without what the register of openings said: its hashes hold the time."""
    return [
        (e.type, {key: value for key, value in e.payload.items() if key != "register"})
        for e in events
    ]


def run_script(plan_: Plan, directory: Path, **options: Any) -> Finished:
    """The loop, into a directory."""
    outcome = execute(plan_, directory, **options)
    assert outcome.summary is not None, outcome.stopped
    return finished(directory)


def cut_off(whole: Finished, directory: Path, line: int) -> Path:
    """A copy that ends after a line of the journal, as a kill leaves it, and has no results yet.

    After every other line half of the next one stands there, as of a kill inside a write.
    """
    shutil.copytree(whole.path, directory)
    for name in ("improve.json", "rows.parquet", "summary.json"):
        (directory / name).unlink()
    lines = (whole.path / JOURNAL).read_bytes().splitlines(keepends=True)
    torn = lines[line][: len(lines[line]) // 2] if line % 2 else b""
    (directory / JOURNAL).write_bytes(b"".join(lines[:line]) + torn)
    return directory


def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an author nor a reader answers from now on."""

    def refuse(*args: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr("plugins.authors.scripted.Scripted.draft", refuse)
    monkeypatch.setattr("framework.pipeline.path.Pipeline.sampled", refuse)


def finished(directory: Path) -> Finished:
    """What a directory holds."""
    events = list(protocol_events(directory))
    results = json.loads((directory / "improve.json").read_text())
    return Finished(directory, events, results)
