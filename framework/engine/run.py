"""Executing one plan into one run directory, from the start or from where it was cut off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework.analysis.doubts import doubts_of_state
from framework.analysis.summary import summarize
from framework.config import Plan, stored_plan
from framework.contracts import REPORTED, Gate, GateOutcome, Judge
from framework.contracts.run import IS_BASELINE
from framework.engine.account import served_of
from framework.engine.domains import open_domain
from framework.engine.interrupt import graceful_stop
from framework.engine.listener import Listener
from framework.engine.manifest import changed_since, manifest, read_manifest
from framework.engine.prepare import Prepared, data_of, part_named, prepare
from framework.engine.probed import PROBED, found_before, outcome_of, probed
from framework.engine.protocols.rescore import NoModel, RescoreProtocol, RescoreSource
from framework.errors import StopRun, UserError
from framework.models.spending import current
from framework.pipeline.extraction import summed
from framework.pipeline.failures import as_failed
from framework.records import EMPTY, Row
from framework.registry import NoSettings
from framework.rows import by_session
from framework.store import Clock, JournalEvent, utc_now
from framework.store.answers import answer_records, unsupported_of
from framework.store.directory import RunDirectory
from framework.store.openings import register
from framework.store.state import State, data_differ, load_state, read_summary, repair_head
from framework.text.canonical import CanonicalError
from framework.text.counting import counted
from framework.text.printable import brief

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run: its directory, summary, and whether it was stopped before its end.

    ends_sweep : what stopped it would stop every other job as well. asked : the cases that the
    command asked for; None where it did not say.
    """

    directory: Path
    summary: Mapping[str, Any] | None
    stopped: str = ""
    ends_sweep: bool = False
    asked: int | None = None


class TooManyErrors(Exception):
    """More cases failed than `max_errors` allows; the run stops, and a resume runs them again.

    Not so where the protocol keeps events of its own: what they hold stays as it was measured.
    """


_FEW: Final = 50
"""Where the number of rows is not known beforehand, a share of errors is of at least so many."""


def execute(
    plan: Plan,
    directory: Path,
    *,
    prepared: Prepared | None = None,
    begun: State | None = None,
    baseline: Path | State | None = None,
    baseline_none: Path | State | None = None,
    origin: RescoreSource | None = None,
    repeated: State | None = None,
    listener: Listener | None = None,
    clock: Clock = utc_now,
) -> Outcome:
    """Run a plan into `directory`; a directory that is there already is resumed.

    `prepared` has the plan's parts and `begun` the directory's state, where they are known already.
    `baseline` is the finished run that the gate compares with, `baseline_none` that of `arch=none`.
    With an `origin`, or in a directory that was begun with one, its answers are judged again.
    Of the arm nothing is checked before a resume, a rescore or the repetition of `repeated`: they
    have what was found before the run.
    Raises UserError where the directory holds another configuration, or a cache can't be used.
    """
    begun = begun or begun_in(plan, directory)
    if begun is not None and begun.finished is not None:
        repair_head(begun)
        for doubt in doubts_of_state(begun):
            _log.warning("warning: %s", doubt)
        return Outcome(directory=directory, summary=read_summary(directory))
    if begun is not None:
        origin = RescoreSource.read(begun.started)
    if origin is not None:  # stored answers are judged: the reader's model is not asked
        judge: Judge[Any] = plan.parts["judge"].create()
        model = None if judge.asks_the_runs_model else NoModel(NoSettings())
        prepared = prepare(plan, model, RescoreProtocol(origin, directory))
    prepared = prepared or prepare(plan)
    pipeline = prepared.pipeline
    for part in served_of(pipeline.model, pipeline.judge, pipeline.embedder):
        part.check()
    before = begun or repeated or (origin.state if origin else None)
    try:
        found = found_before(before.started) if before else () if origin else probed(plan)
    except StopRun as error:  # its cap, before anything is written
        return Outcome(directory=directory, summary=None, stopped=str(error), ends_sweep=True)
    run = _opened(plan, directory, prepared, begun, origin, found, clock)
    # Not before: a directory that another process writes is left as it is.
    _log.debug("begun: %s", " ".join(plan.overrides) or "as configured")
    try:
        protocol = prepared.protocol.in_journal(
            write=run.write_event,
            register=lambda opened: register(opened, directory, clock=clock),
            recorded=((e.type, e.payload) for e in run.protocol_events()),
            inherited=inherited_events(begun),
        )
        prepared = replace(prepared, protocol=protocol)
        try:
            asyncio.run(_drive(plan, prepared, run, listener or Listener()))
        except (TooManyErrors, StopRun) as error:
            ends, reason = isinstance(error, StopRun), str(error)
            retry = not ends and _measures_again(prepared)
            if not (ends or retry):
                reason += "; no case is measured again here, so give a higher max_errors"
            run.write_event("run.stopped", {"reason": reason, "retry": retry})
            return Outcome(directory=directory, summary=None, stopped=reason, ends_sweep=ends)
        except KeyboardInterrupt:
            run.write_event("run.stopped", {"reason": "interrupted"})
            raise
        gate = judge_gate(prepared.gate, run, plan.top.seed, baseline, baseline_none)
        summary = _finished(plan, prepared, run, gate, found)
        said = any(override.startswith("n_cases=") for override in plan.overrides)
        asked = plan.top.n_cases if said and plan.top.part is None else None
        return Outcome(directory=directory, summary=summary, asked=asked)
    finally:
        run.close()


def _opened(
    plan: Plan,
    directory: Path,
    prepared: Prepared,
    begun: State | None,
    origin: RescoreSource | None,
    found: Sequence[Mapping[str, Any]],
    clock: Clock,
) -> RunDirectory:
    """The directory of a run: where it was begun, to go on there, else a new one."""
    if begun is None:
        spending = current()
        account = spending.scope if spending else None
        told = {"rescored_from": origin.plain()} if origin else {}
        data = data_of(prepared.pipeline.domain)
        return begin(plan, directory, data, account, told, found=found, clock=clock)
    changed = changed_since(directory, plan)
    if changed:
        _log.warning(
            "%s: changed since it was begun: %s; rows from before and after may not belong "
            "together", directory, ", ".join(changed),
        )  # fmt: skip
    return RunDirectory.reopen(directory, changed, begun, again=_measures_again(prepared))


def _measures_again(prepared: Prepared) -> bool:
    """Whether a case can be measured again: not where the protocol's events hold what it gave."""
    return prepared.protocol.seal is None


def _finished(
    plan: Plan,
    prepared: Prepared,
    run: RunDirectory,
    gate: GateOutcome,
    found: Sequence[Mapping[str, Any]],
) -> Mapping[str, Any]:
    """The summary of a run whose cases are all measured, written and sealed."""
    pipeline, protocol = prepared.pipeline, prepared.protocol
    domain = pipeline.domain
    corpus = domain.report(islice(prepared.cases, REPORTED))
    card = next((case.task for case in prepared.cases), None)
    unsupported = unsupported_of(run.path) if _misquotes(pipeline.judge) else (0, 0)
    summary = summarize(plan, run.rows, gate, domain.protected, corpus, card, unsupported)
    if found:
        summary["checks"], failed = outcome_of(found)
        summary["warnings"] += failed
    if pipeline.extractor is not None:
        summary["extraction"] = _extraction_of(run.path, run.rows)
    if (report := protocol.report()) is not None:
        run.write_report(protocol.name, report)
    run.finish(summary)
    return summary


def _extraction_of(directory: Path, rows: Sequence[Row]) -> dict[str, Any]:
    """Counts, precision and recall of nodes and edges by type, each memory counted once.

    See `framework.pipeline.extraction.summed`.
    """
    memories = {row.key: (row.history_id, row.trial, row.repeat) for row in rows}
    found: dict[tuple[str, int, int], Any] = {}
    for record in answer_records(directory):
        memory = memories.get(tuple(record["key"]))
        if memory is not None and record.get("extraction"):
            found.setdefault(memory, record["extraction"])
    return summed(found.values())


def _misquotes(judge: Judge[Any] | None) -> bool:
    """Whether a judge may quote what nobody wrote: one that follows rules takes it from there."""
    return judge is not None and judge.kind == "llm"


def begin(
    plan: Plan,
    directory: Path,
    data: Mapping[str, Any],
    account: str | None = None,
    origin: Mapping[str, Any] = EMPTY,
    inherited: Iterable[JournalEvent] = (),
    found: Sequence[Mapping[str, Any]] = (),
    clock: Clock = utc_now,
) -> RunDirectory:
    """A run directory of `plan`, begun.

    `account` names what the run spends on, None where it spends nothing. `origin` tells, under
    `rescored_from`, where its answers come from, or, under `forked_from`, whose events it begins
    with, which are `inherited`. found : what was checked of its arm before.
    """
    started = {
        "config": plan.config,
        "overrides": list(plan.overrides),
        "identity": plan.digest,
        "data": data,
        **({"account": account} if account else {}),
        **({PROBED: list(found)} if found else {}),
        **origin,
    }
    content = {**manifest(plan, data), **origin}
    return RunDirectory.create(directory, started, content, inherited, clock)


def inherited_events(state: State | None) -> int:
    """How many of its protocol's events a run took over from the run that it was forked from."""
    return int(((state.started if state else {}).get("forked_from") or {}).get("events", 0))


def judge_gate(
    gate: Gate[Any],
    run: RunDirectory,
    seed: int,
    baseline: Path | State | None,
    floor: Path | State | None,
) -> GateOutcome:
    """The gate's outcome on the rows of a run; no verdict without a baseline."""
    if baseline is None and gate.baseline is not None:
        return GateOutcome(name=gate.name, passed=None, reason=IS_BASELINE)

    places = [place for place in (baseline, floor) if place is not None]
    own = State(path=run.path, started={}, rows=run.rows)
    known = [own if place == run.path else place for place in places]
    states = [place if isinstance(place, State) else load_state(place) for place in known]
    rows = [by_session(state.rows) for state in states]
    against = rows[0] if baseline is not None else ()
    beneath = rows[-1] if floor is not None else None
    outcome = gate.decide(by_session(run.rows), against, seed, floor=beneath)
    heads = {str(s.path.name): s.head for s in states if s.path != run.path}
    return replace(outcome, against=heads)


def begun_in(plan: Plan, directory: Path) -> State | None:
    """The state of `directory`, None where it is not there; see `check_same`."""
    return check_same(plan, load_state(directory)) if directory.exists() else None


def check_same(plan: Plan, state: State) -> State:
    """The state of a run that must have been begun with this identity on the same data.

    Raises UserError where it was not.
    """
    if not reads_the_same(plan, state):
        raise UserError(f"{state.path} holds a run of another configuration")
    if differ := data_differ(state.started.get("data"), data_of(open_domain(plan))):
        raise UserError(f"{state.path} was begun on other data than the domain now has: {differ}")
    return state


def reads_the_same(plan: Plan, state: State) -> bool:
    """Whether a run differs from the plan in nothing, or in former names alone.

    Then its digest is another, but its configuration means the plan's today, and its manifest holds
    the prompts of today.
    """
    if plan.digest == state.started.get("identity"):
        return True
    asked = read_manifest(state.path).get("prompts", {})
    same_prompts = all(asked.get(name, own) == own for name, own in plan.prompt_digests.items())
    return same_prompts and stored_plan(state).digest == plan.digest


async def _drive(plan: Plan, prepared: Prepared, run: RunDirectory, listener: Listener) -> None:
    pipeline = prepared.pipeline
    done = frozenset(run.began_with)
    failed = [error for error in run.began_with.values() if error]
    errors, last = len(failed), failed[-1] if failed else ""
    n, part = plan.top.n_cases, plan.top.part
    expected = about = None
    if n is not None and not prepared.protocol.in_turns:
        of_case = pipeline.trials * plan.top.repeats
        expected = n * of_case if part is None else None
        own = n if part is None else part_named(part).about(n)
        about = own and own * of_case
    too_many: TooManyErrors | None = None
    with (
        listener.rows_of(plan, about, len(done)) as step,
        graceful_stop(pipeline.cancel) as interrupted,
    ):
        try:
            if not _measures_again(prepared):  # nothing is paid for before the run stops again
                _stop_on_errors(plan, errors, expected or max(_FEW, run.n_rows), last)
            async for row, record in prepared.protocol.drive(pipeline, prepared.cases, done):
                try:
                    run.add(row, record)
                except CanonicalError as error:  # nothing was written: that case fails alone
                    row, prompts = as_failed(row, error), record.get("prompts", ())
                    run.add(row, {"error": row.error, "prompts": prompts})
                step(1, bool(row.error))
                errors, last = errors + bool(row.error), row.error or last
                try:
                    _stop_on_errors(plan, errors, expected or max(_FEW, run.n_rows), row.error)
                except TooManyErrors as error:  # what is under way is paid for: it ends first
                    too_many = too_many or error
                    pipeline.cancel.cancel()
        except KeyboardInterrupt:  # so a protocol ends whose path is cancelled
            if too_many is None:
                raise
        finally:
            await prepared.close()
        if interrupted():
            raise KeyboardInterrupt
        if too_many is not None:
            raise too_many
    if not run.n_rows and next(iter(prepared.cases), None) is not None:
        raise UserError(f"protocol={plan.label('protocol')} gave no row of any case")
    # A finite domain may have fewer cases than were asked for.
    _stop_on_errors(plan, errors, run.n_rows, last)


def _stop_on_errors(plan: Plan, errors: int, rows: int, error: str) -> None:
    allowed = plan.top.max_errors
    limit = allowed * rows if allowed < 1 else allowed
    if error and errors > limit:
        failed = f"{counted(errors, 'case')} failed, more than max_errors={allowed:g} allows"
        raise TooManyErrors(f"{failed}; the last: {brief(error)}")
