"""Stored answers as a source of rows: judged again, with no call to the reader's model."""

from __future__ import annotations

import os
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self
from weakref import finalize

from framework.config import Plan
from framework.contracts import Model, Operation, Reply, Req, Res, RowKey, RunProtocol, Scored
from framework.contracts import Pipeline as Driven
from framework.errors import DataError, StopRun, UserError
from framework.models.client import Ledger, track_usage
from framework.pipeline.failures import told
from framework.pipeline.path import Pipeline
from framework.pipeline.score import score_axes, scored_together
from framework.records import Answer, Case, Item, MemoryView, Row, TraceEntry
from framework.registry import NoSettings, find, nearest
from framework.retention import known_ranks
from framework.store.answers import whole_answers
from framework.store.directory import ANSWERS
from framework.store.state import State, load_state
from framework.text.reading import read_json

Pair = tuple[Row, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreSource:
    """Where a rescored run's answers come from, as its manifest and journal say it.

    run : the old run's directory, from the new one's. identity, head : its identity's digest and
        the hash that its journal ends with. axes : the axis plugins that were scored again.
        state : the old run, where it was read already; no part of the record.
    """

    run: str
    identity: str
    head: str
    axes: tuple[str, ...]
    state: State | None = None

    @classmethod
    def of(cls, old: State, new: Path, plan: Plan, axes: Sequence[str]) -> RescoreSource:
        """The origin of a run of `plan` at `new` that judges the finished run `old` again.

        axes : empty for all; with one that shares a verdict with others these are scored as well.
        """
        assert old.finished is not None
        known = [find("axis", name).cls for name in plan.axes]
        axes = scored_together(
            known, axes or plan.axes, plan.parts["domain"].plugin.cls.success_axis
        )
        return cls(
            run=os.path.relpath(old.path, new),
            identity=old.started["identity"],
            head=old.finished["hash"],
            axes=tuple(axes),
            state=old,
        )

    @classmethod
    def read(cls, started: Mapping[str, Any]) -> RescoreSource | None:
        """The origin that a run was begun with; None for a run of its own."""
        stored = started.get("rescored_from")
        return None if stored is None else cls(**{**stored, "axes": tuple(stored["axes"])})

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        named = {"run": self.run, "identity": self.identity, "head": self.head}
        return {**named, "axes": list(self.axes)}


class NoModel(Model[NoSettings]):
    """Stands where the reader's model was: judging stored answers must not ask it."""

    name = "none"
    kind = "rule-based"

    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        raise AssertionError(f"rescoring asked the reader's model for {operation.name}")


class RescoreProtocol(RunProtocol[NoSettings]):
    """The rows of a finished run with some axes scored again from its answers.jsonl.

    Not registered: `rescore` begins it. Raises UserError when the run's journal does not end as the
    source says: it was changed.
    """

    name = "rescore"

    def __init__(self, origin: RescoreSource, directory: Path) -> None:
        super().__init__(NoSettings())
        self.origin = origin
        path = Path(os.path.normpath(directory / origin.run))
        state = origin.state or load_state(path)
        if (state.finished or {}).get("hash") != origin.head:
            raise UserError(f"{path} is not the run that {directory} was rescored from")
        opened = ExitStack()
        self._answers = opened.enter_context(whole_answers(path))
        finalize(self, opened.close)
        self._rows = {row.key: row for row in state.rows}
        self._places = _places(self._answers, path / ANSWERS)
        self._stand: set[str] = set()  # columns that need no answer, whichever are scored again

    def in_journal(self, **journal: Any) -> Self:
        """Itself: its journal holds rows alone."""
        return self

    async def drive(
        self, pipeline: Driven, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[Pair]:
        """Rows with their records, leaving out the keys in `done`.

        Raises UserError for an axis that the pipeline does not have.
        """
        assert isinstance(pipeline, Pipeline)
        known = [axis.name for axis in pipeline.axes]
        for name in self.origin.axes:
            if name not in known:
                raise UserError(f"--axes: the run has no axis {name!r}{nearest(name, known)}")
        axes = [axis for axis in pipeline.axes if axis.name in self.origin.axes]
        self._stand = {n for axis in pipeline.axes if not axis.needs_answer for n in axis.names}
        pipeline = replace(pipeline, axes=axes)
        async for pair in pipeline.bounded(self._jobs(pipeline, cases, done)):
            yield pair

    def _jobs(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> Iterator[Callable[[], Coroutine[Any, Any, Pair]]]:
        of_case: dict[str, list[RowKey]] = {}
        for key in self._rows:
            of_case.setdefault(key[0], []).append(key)
        for case in cases:
            for key in of_case.get(case.id, ()):
                if key not in done:
                    yield partial(self._judge, pipeline, case, self._rows[key])

    async def _judge(self, pipeline: Pipeline, case: Case, row: Row) -> Pair:
        record = self._record(row.key)
        if row.error or row.state or _goes_on(record):
            return replace(row, usage=_unpaid(row)), record
        if record["answer"] is None:
            raise UserError("its protocol stops before an answer: there is nothing to judge")
        ledger = Ledger()
        try:
            with track_usage(ledger, "judge", row.repeat, keep_prompts=True):
                measured = await score_axes(pipeline.axes, _scored(pipeline, case, row, record))
        except StopRun as stop:
            raise StopRun(f"{stop} (case {case.id})") from None
        except Exception as error:  # whatever a judge raises, the case is a row and the run goes on
            usage = {**_unpaid(row), **ledger.usage()}
            free = {name: value for name, value in row.axes.items() if name in self._stand}
            message = told(error, pipeline.parts)
            failed = replace(row, axes=free, success=None, error=message, usage=usage)
            return failed, {**record, "prompts": ledger.prompts}
        kept = [v for v in record["verdicts"] if v["axis"] not in self.origin.axes]
        # Calls of the judge before belong to this run only where a verdict of theirs is kept.
        before = _unpaid(row)
        prompts = record["prompts"]
        if not kept:
            before.pop("judge", None)
            prompts = [prompt for prompt in prompts if prompt["phase"] != "judge"]
        if any(axis.uses_embedder for axis in pipeline.axes):
            before.pop("measure", None)
        for phase, usage_ in ledger.usage().items():
            before[phase] = usage_.plus(before[phase]) if phase in before else usage_
        axes = {**row.axes, **measured.values}
        success = axes.get(pipeline.domain.success_axis, row.success)
        scored = replace(row, axes=axes, success=success, usage=before)
        if axes.keys() == measured.values.keys():  # all again: in no column an old meaning
            scored = replace(scored, **measured.outcome, expected=case.gold.decision)
        return scored, {
            **record,
            "prompts": [*prompts, *ledger.prompts],
            "evidence": {**record["evidence"], **measured.evidence},
            "verdicts": [*kept, *measured.verdicts],
            **_others(record, measured.of_others),
        }

    def _record(self, key: RowKey) -> dict[str, Any]:
        self._answers.seek(self._places[key])
        record: dict[str, Any] = read_json(self._answers.readline())
        del record["key"], record["error"]
        return record


def _goes_on(record: Mapping[str, Any]) -> bool:
    """Whether a session went on after this turn: then its axes are those of a later one."""
    return "session" in record and not record["session"].get("figures")


def _others(record: Mapping[str, Any], judged: Mapping[str, Any]) -> dict[str, Any]:
    """The answers from further views with the verdicts on them, where a judge was asked again."""
    if not judged:
        return {}
    others = record["others"].items()
    return {"others": {n: {**one, "verdicts": judged.get(n, [])} for n, one in others}}


def _places(lines: BinaryIO, file: Path) -> dict[RowKey, int]:
    """Where the record of each row begins. Raises DataError for a line that is no record."""
    places: dict[RowKey, int] = {}
    at = 0
    lines.seek(0)
    for number, line in enumerate(lines, 1):
        try:
            record = read_json(line)
            case, arm, trial, repeat, turn = record["key"]
        except (ValueError, KeyError, TypeError):
            raise DataError(file, number, "not a record of an answer") from None
        unanswered = record["error"] or record.get("state")
        if not unanswered and not {"clean", "verdicts"} <= record.keys():
            raise DataError(file, number, "written before verdicts were kept")
        places[case, arm, trial, repeat, turn] = at
        at += len(line)
    return places


def _unpaid(row: Row) -> dict[str, Any]:
    """What the row took, paid for by the run that it comes from."""
    return {phase: replace(usage, paid_usd=0.0) for phase, usage in row.usage.items()}


def _scored(pipeline: Pipeline, case: Case, row: Row, record: Mapping[str, Any]) -> Scored:
    """What axes may look at of a case, as a record has it."""
    bare = pipeline.scored(case, _view(row, record), record["retained"])
    scored = replace(bare, answer=_answer(record["answer"]), clean=_answer(record["clean"]))
    others = {}
    for name, other in record.get("others", {}).items():
        items = tuple(_sourced(Item, item) for item in other["view"])
        others[name] = replace(
            scored,
            view=replace(scored.view, items=items, trace=(), ranks={}),
            answer=_answer(other["answer"]),
            retained=other["retained"],
        )
    return replace(scored, others=others, session=record.get("session", {}).get("figures", {}))


def _view(row: Row, record: Mapping[str, Any]) -> MemoryView:
    trace = tuple(_sourced(TraceEntry, entry) for entry in record["trace"])
    return MemoryView(
        items=tuple(_sourced(Item, item) for item in record["view"]),
        tokens=row.view_tokens,
        budget_tokens=row.budget_tokens,
        trace=trace,
        ranks=known_ranks(trace, record.get("ranks", {})),
    )


def _sourced(cls: type[Any], stored: Mapping[str, Any]) -> Any:
    return cls(**{**stored, "source_ids": tuple(stored["source_ids"])})


def _answer(stored: Mapping[str, Any] | None) -> Answer | None:
    if stored is None:
        return None
    lists = {key: tuple(stored[key]) for key in ("reasons", "provisions")}
    return Answer(**{**stored, **lists})
