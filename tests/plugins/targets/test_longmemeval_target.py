from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from framework.records import Answer, Case, Item, Row, TraceEntry
from framework.registry import find, settings_of
from plugins.targets.longmemeval import LongMemEvalTarget, LongMemEvalTargetSettings

FIXTURE = Path(__file__).parents[2] / "fixtures" / "longmemeval" / "questions.json"


def domain(name: str, **settings: Any) -> Any:
    plugin = find("domain", name)
    return plugin.cls(settings_of(plugin, settings))


def outcome(case: Case, correct: float | None, *, placed: str = "in") -> Any:
    """Of a case of which the first gold turn was recalled second, at the end of the view."""
    gold = case.gold.evidence[0]
    trace = tuple(
        TraceEntry(
            item_id=id_,
            rank=rank,
            tokens=5,
            tokens_kept=5 if where == "in" else 2,
            placed=where,
            why="fits" if where == "in" else "5 tokens, 2 free",
            source_ids=(id_,),
        )
        for rank, (id_, where) in enumerate([("s9.1", "in"), (gold, placed)], start=1)
    )
    record = {
        "trace": trace,
        "view": (Item(id="s9.1", text="some text"),),
        "retained": {item.id: placed == "in" for item in case.gold.items},
        "answer": Answer(text="said"),
        "prompts": [{"phase": "answer", "system": "s", "user": "u", "response": "r"}],
    }
    row = Row(case_id=case.id, arm="a", axes={"answer_correct": correct})
    target = LongMemEvalTarget(LongMemEvalTargetSettings())
    return target.outcome(case, row, record), target


def case_of(name: str = "fx01") -> Case:
    return next(c for c in domain("longmemeval", path=str(FIXTURE)).cases(None, 0) if c.id == name)


def test_a_failure_with_its_evidence_in_the_view_is_the_readers() -> None:
    found, target = outcome(case_of(), 0.0)
    assert not found.correct
    assert [(e.rank, e.in_view) for e in found.turns] == [(2, True)]
    assert target.taxonomy.regime_of(found) == "assemble-internal"
    assert found.kind == "single-session-user"
    assert found.answer == "said"


def test_evidence_that_was_cut_met_the_budget() -> None:
    found, target = outcome(case_of(), 0.0, placed="cut")
    assert found.truncated
    assert target.taxonomy.regime_of(found) == "budget-truncation"


@pytest.mark.parametrize(("value", "correct"), [(1.0, True), (0.0, False), (None, False)])
def test_correct_is_as_judged(value: float | None, correct: bool) -> None:
    assert outcome(case_of(), value)[0].correct is correct


def test_the_shifted_questions_are_drawn_otherwise_and_the_file_has_none() -> None:
    target = LongMemEvalTarget(LongMemEvalTargetSettings())
    assert target.shifted(domain("longmemeval", path=str(FIXTURE))) is None
    own = domain("longmemeval_synthetic")
    shifted = target.shifted(own)
    assert shifted is not None
    cases = list(islice(shifted.cases(200, 0), 200))
    assert {case.tags["form"] for case in cases} == {"held_out"}
    absent = Counter(case.tags["abstention"] for case in cases)["yes"]
    assert absent > 1.5 * Counter(c.tags["abstention"] for c in own.cases(200, 0))["yes"]


def test_the_whole_library_is_half_null_or_harm() -> None:
    library = LongMemEvalTarget(LongMemEvalTargetSettings()).library
    bad = [patch for patch in library if not patch.note.startswith("help")]
    assert 2 * len(bad) >= len(library)
    assert {patch.seam for patch in library} == {"score", "assembly", "reader_prompt"}
