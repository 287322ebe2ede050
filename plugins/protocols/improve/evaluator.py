"""Measuring a stack on cases: the one path under its seams, each case an event of the journal."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from framework.contracts import Evidence, Outcome, Target
from framework.contracts.improve import CASE_EVALUATED, EVALUATION_RECORDED, EVALUATION_STARTED
from framework.errors import UserError
from framework.pipeline.ingest import Memories
from framework.pipeline.path import Pipeline, Record
from framework.records import ABSTAIN, Case, Row, Usage
from framework.text.canonical import digest
from plugins.protocols.improve.events import EventLog
from plugins.protocols.improve.operators import acted
from plugins.protocols.improve.stack import Stack

TEST: Final = "test"
"""The purpose of what is measured once the loop has ended."""
_HEDGE: Final = re.compile(
    r"\b(?:abstain|undetermined|unknown|unclear|unsure|uncertain|insufficient|unavailable|"
    r"no (?:information|answer|record|mention|evidence|data|way to)|"
    r"(?:can ?not|can['’]t|could not|couldn['’]t|unable to) (?:\w+ )?"
    r"(?:find|say|tell|determine|answer|know|confirm)|"
    r"(?:do|does|did)(?: not|n['’]t) "
    r"(?:say|mention|state|know|contain|include|tell|specify|recall)|"
    r"not (?:in|available|stated|mentioned|given|known|there|enough|sure|clear|specified|"
    r"provided))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be measured, and what for.

    repeat : which answer of the model to a request is meant: another number asks again.
    shown : so many characters of a failure's view are kept for an author; None for nothing.
    """

    purpose: str
    stack: Stack
    split: str
    cases: Sequence[Case]
    repeat: int = 0
    shown: int | None = None


class Evaluator:
    """Measures stacks. What the journal holds of a measurement is not measured again.

    rewards : what makes a case correct: the target's word, or (a control) that it was answered.
        TEST goes by the target's word whatever it is.
    operators : those that may be installed: what they did in a case is kept with it.
    tokens, cost_usd : spent on all measurements so far; on the memory of a history once.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        target: Target[Any],
        log: EventLog,
        *,
        keeps: int = 200,
        rewards: Literal["truth", "directness"] = "truth",
        operators: Sequence[str] = (),
    ) -> None:
        self._keeps = keeps
        self._pipeline = replace(pipeline, traces_sources=True, memories=Memories(keeps))
        self._target = target
        self._log = log
        self._rewards = rewards
        self._operators = operators
        self._number = 0
        self._made: set[tuple[str, int]] = set()
        """Histories and repeats whose memory is counted."""
        self.tokens = 0
        self.cost_usd = 0.0

    async def evaluate(self, task: Task) -> tuple[Outcome, ...]:
        """The outcomes, in the order of the cases."""
        return tuple([outcome async for outcome, _, _ in self.measured(task)])

    async def measured(self, task: Task) -> AsyncIterator[tuple[Outcome, Row | None, Record]]:
        """Outcomes in the order of the cases, each with its row and record where measured now.

        The event of a case is written when the next one is asked for, so that whoever takes the row
        has kept it by then. Raises KeyboardInterrupt once the path is cancelled.
        """
        self._number += 1
        head = {"evaluation": self._number, "stack": task.stack.digest, "split": task.split}
        self._log.emit(
            EVALUATION_STARTED,
            {**head, "purpose": task.purpose, "n": len(task.cases), "sample": task.repeat},
        )
        sums = {"n": 0, "correct": 0, "errors": 0, "tokens": 0, "cost_usd": 0.0}
        outcomes: list[Outcome] = []

        def count(outcome: Outcome, cost: Mapping[str, Any]) -> None:
            outcomes.append(outcome)
            sums["n"] += 1
            sums["correct"] += outcome.correct
            sums["errors"] += bool(outcome.error)
            sums["tokens"] += cost["tokens"]
            sums["cost_usd"] += cost["cost_usd"]
            self.tokens += cost["tokens"]
            self.cost_usd += cost["cost_usd"]

        for case in task.cases:
            known = self._log.take(CASE_EVALUATED)
            if known is None:
                break
            if (known["evaluation"], known["case"]) != (self._number, case.id):
                raise UserError(f"the journal has case {known['case']} where {case.id} is due")
            outcome = _from_plain(known, case)
            self._made.add((case.history_id, task.repeat))
            count(outcome, known)
            yield outcome, None, {}
        left = task.cases[len(outcomes) :]
        async for case, row, record in self._in_order(task, left):
            found = self._target.outcome(case, row, record)
            found = replace(found, acted=acted(record.get("answer"), self._operators))
            if self._rewards == "directness" and task.purpose != TEST:
                found = replace(found, correct=is_direct(found, row.decision))
            plain = self._plain(found, task.shown)
            outcome, cost = _from_plain(plain, case), spent(self._own(row, task.repeat))
            yield outcome, _timeless(row), record
            self._log.put(CASE_EVALUATED, {"evaluation": self._number, **plain, **cost})
            count(outcome, cost)
        self._log.emit(
            EVALUATION_RECORDED,
            {
                **head,
                **sums,
                "outcomes": digest([[o.case_id, o.correct, o.response] for o in outcomes]),
                "summary": self._target.summary(outcomes),
            },
        )

    async def _in_order(
        self, task: Task, cases: Sequence[Case]
    ) -> AsyncIterator[tuple[Case, Row, Record]]:
        """Rows of the cases in their order, whichever finishes first."""
        if not cases:
            return
        pipe = replace(self._pipeline, seams=task.stack.seams(self._target.fragments))
        if task.stack.entries:  # an edited arm bears another name
            pipe = replace(pipe, arm=f"{pipe.arm}@{task.stack.digest[7:15]}")
        waiting: dict[str, tuple[Row, Record]] = {}
        due = iter(cases)
        case = next(due, None)
        async for row, record in pipe.sampled(cases, task.repeat):
            waiting[row.case_id] = (row, record)
            while case is not None and case.id in waiting:
                yield case, *waiting.pop(case.id)
                case = next(due, None)
        if case is not None:
            raise KeyboardInterrupt

    def _own(self, row: Row, repeat: int) -> Mapping[str, Usage]:
        """What a case took: the memory of its history is of the first case that is read from it."""
        first = (row.history_id, repeat) not in self._made
        self._made.add((row.history_id, repeat))
        return {phase: used for phase, used in row.usage.items() if first or phase != "ingest"}

    def on(self, domain: Any) -> None:
        """Measure on another domain from here on."""
        self._made.clear()
        self._pipeline = replace(self._pipeline, domain=domain, memories=Memories(self._keeps))

    def _plain(self, outcome: Outcome, shown: int | None) -> dict[str, Any]:
        plain: dict[str, Any] = {
            "case": outcome.case_id,
            "correct": outcome.correct,
            "request": outcome.request,
            "response": outcome.response,
            **({"acted": list(outcome.acted)} if outcome.acted else {}),
        }
        if not outcome.correct:
            plain |= {
                "regime": self._target.taxonomy.regime_of(outcome),
                "turns": [_evidence(e) for e in outcome.turns],
                "sessions": [_evidence(e) for e in outcome.sessions],
                "truncated": outcome.truncated,
                "signs": list(outcome.signs),
                "error": outcome.error,
            }
            if shown is not None:
                plain["shown"] = {"view": outcome.view[:shown], "answer": outcome.answer[:shown]}
        plain |= {"kind": outcome.kind, "abstention": outcome.abstention}
        return plain


def is_direct(outcome: Outcome, decision: str = "") -> bool:
    """Whether something was answered without a hedge, right or wrong (Regimes, threat 10).

    decision : that of the answer; an abstention is a hedge, however it is worded.
    """
    answer = outcome.answer.strip()
    hedged = decision == ABSTAIN or _HEDGE.search(answer) is not None
    return bool(answer) and not outcome.error and not hedged


def _from_plain(plain: Mapping[str, Any], case: Case) -> Outcome:
    """The outcome as its event holds it: what the loop goes on with, live or not."""
    shown = plain.get("shown", {})
    return Outcome(
        case_id=plain["case"],
        kind=plain["kind"],
        correct=plain["correct"],
        abstention=plain["abstention"],
        turns=tuple(Evidence(**e) for e in plain.get("turns", ())),
        sessions=tuple(Evidence(**e) for e in plain.get("sessions", ())),
        truncated=plain.get("truncated", False),
        signs=tuple(plain.get("signs", ())),
        question=case.task.query,
        view=shown.get("view", ""),
        answer=shown.get("answer", ""),
        request=plain["request"],
        response=plain["response"],
        error=plain.get("error", ""),
        acted=tuple(plain.get("acted", ())),
    )


def _timeless(row: Row) -> Row:
    """The row without what a repetition would not give again."""
    usage = {
        phase: replace(used, seconds=0.0, call_seconds=()) for phase, used in row.usage.items()
    }
    return replace(row, timing={}, usage=usage)


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {name: getattr(evidence, name) for name in Evidence.__slots__}


def spent(usage: Mapping[str, Usage]) -> dict[str, Any]:
    """Tokens, in and out together, and dollars over all phases, as events hold them."""
    return {
        "tokens": sum(u.tokens_in + u.tokens_out for u in usage.values()),
        "cost_usd": sum(u.cost_usd for u in usage.values()),
    }
