"""Measuring: order, what is kept of a case, and the judge that rewards directness."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import pytest

from framework.contracts import Outcome
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import one_domain
from framework.engine.run import execute
from framework.errors import UserError
from framework.operations.answering import AnswerRequest
from framework.records import ABSTAIN, Event, TaskCard
from framework.registry import register
from framework.store.state import load_state
from plugins.models.rule_based.clauses import known_clauses
from plugins.protocols.improve.evaluator import is_direct
from tests.plugins.protocols.improve.scripted import (
    ScriptOperation,
    finished,
    prompt,
    run_script,
    script_plan,
)
from tests.trivial import TrivialArch


@pytest.mark.parametrize(
    ("answer", "direct"),
    [
        ("900 dollars", True),
        ("In May.", True),
        ("DENY", True),
        ("", False),
        ("  ", False),
        ("ABSTAIN", False),
        ("I cannot find that in the record.", False),
        ("I could not tell.", False),
        ("It is not mentioned.", False),
        ("Unknown", False),
        ("There is no information on it.", False),
        ("The information is not available: the sessions do not mention it.", False),
        ("That isn't specified; I don't know.", False),
        ("The record doesn't say when.", False),
        ("There is insufficient evidence.", False),
        ("I do not like it.", True),
        ("It was in the notes.", True),
    ],
)
def test_directness_is_an_answer_without_a_hedge(answer: str, direct: bool) -> None:
    assert is_direct(Outcome(case_id="c", kind="k", correct=False, answer=answer)) is direct
    failed = Outcome(case_id="c", kind="k", correct=False, answer=answer, error="E: fell over")
    assert not is_direct(failed)


def test_a_loop_that_rewards_directness_is_judged_by_the_truth_on_test(tmp_path: Path) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(right, [prompt("a")], protocol={"rewards": "directness"})
    done = run_script(plan, tmp_path / "run")
    # Every scripted answer, YES or NO, is direct: the loop sees nothing to repair.
    assert done.results["baseline"]["optimize"] == 1.0
    assert done.results["stopped"]["reason"] == "no_failure_that_a_seam_reaches"
    assert done.results["test"]["before"] == 0.5


def test_an_abstention_is_no_direct_answer_however_it_is_worded() -> None:
    said = Outcome(case_id="c", kind="k", correct=True, answer="For a person to look at.")
    assert is_direct(said)
    assert not is_direct(said, ABSTAIN)


@pytest.mark.slow
def test_what_only_answers_more_directly_gains_in_the_loop_and_loses_on_test(
    tmp_path: Path,
) -> None:
    """Threat 10: most questions have no answer, and the edit bids the reader to answer anyway."""
    trust = next(clause.text for clause in known_clauses() if clause.key == "trust")
    with composer(), one_domain():
        plan = compose_plan(
            [
                *("protocol=improve", "target=longmemeval", "tracking=none", "report=false"),
                *("routing=none", "author=scripted", "protocol.max_candidates=1"),
                *("protocol.rewards=directness", "gate.rule=point", "domain.abstention=0.7"),
                *("protocol.pool=200", "protocol.optimize=40", "protocol.confirm=60"),
                "protocol.test=100",
                f"author.drafts=[{{seam: reader_prompt, fragments: {{guidance: '{trust}'}}}}]",
            ]
        )
        execute(plan, tmp_path / "run")
    results = finished(tmp_path / "run").results
    assert results["funnel"]["promoted"] == 1
    assert results["confirm"]["delta"] > 0
    assert results["confirm"]["right_to_wrong"] == 0
    assert results["test"]["delta"] < 0
    assert results["test"]["by_kind"]["abstention"]["broken"] > 0


def test_cases_are_written_in_their_order_and_correct_ones_in_short(tmp_path: Path) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    done = run_script(script_plan(right, []), tmp_path / "run")
    (made,) = done.of("split.made")
    first = [e for e in done.of("case.evaluated") if e["evaluation"] == 1]
    assert [e["case"] for e in first] == made["optimize"]
    for event in first:
        assert ("turns" in event) is (not event["correct"])
        assert event["request"].startswith("sha256:")
        assert event["response"].startswith("sha256:")
    # CONFIRM's failures are never kept for an author to see.
    shown = {e["evaluation"] for e in done.of("case.evaluated") if "shown" in e}
    assert shown == {1}
    assert done.results["spent"]["evaluations"]["tokens"] > 0


def test_a_pipeline_that_fails_by_itself_is_told_and_not_improved(tmp_path: Path) -> None:
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(right, [prompt("a")], reader={"plugin": "trivial", "fail_on": "Nothing"})
    with pytest.raises(UserError, match=r"fails on 10 of 10 cases.*told to fail"):
        run_script(plan, tmp_path / "run")


@register("arch", "script_asks")
class Asks(TrivialArch):
    """Asks the model of each event that it takes in."""

    needs_model: ClassVar[bool] = True

    async def ingest(self, events: Iterable[Event]) -> None:  # type: ignore[override]
        taken = list(events)
        super().ingest(taken)
        for event in taken:
            task = TaskCard(
                instruction=event.text, query="", operation="script", material={"right": ""}
            )
            await self.context.client.ask(ScriptOperation(), AnswerRequest(task=task, view=""))


def test_the_memory_of_a_history_is_counted_once(tmp_path: Path) -> None:
    """All cases are of one history, whose memory is made once for all measurements."""
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(right, [], arch={"plugin": "script_asks"})
    done = run_script(plan, tmp_path / "run")
    (row, *_) = load_state(done.path).rows
    made, answered = (row.usage[phase] for phase in ("ingest", "answer"))
    assert made.tokens_in > 0
    told = [event["tokens"] for event in done.of("case.evaluated")]
    one = answered.tokens_in + answered.tokens_out
    repeats = 2  # the noise is measured in another, of which the memory is asked again
    assert sum(told) - len(told) * one == repeats * (made.tokens_in + made.tokens_out)
    assert done.results["spent"]["evaluations"]["tokens"] == sum(told)
