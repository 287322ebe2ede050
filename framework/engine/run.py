"""Executing one plan into one run directory, from the start or from where it was cut off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework import sandbox
from framework.analysis.summary import summarize
from framework.config import Plan, load_plan
from framework.contracts import (
    REPORTED,
    Budget,
    Domain,
    GateOutcome,
    Model,
    ProtocolContext,
    RunProtocol,
)
from framework.engine.account import check_prices, served_of
from framework.engine.extracted import extraction_of
from framework.engine.interrupt import graceful_stop
from framework.engine.listener import Listener
from framework.engine.manifest import changed_since, manifest, read_manifest
from framework.engine.protocols.rescore import NoModel, RescoreProtocol, RescoreSource
from framework.errors import StopRun, UserError
from framework.models.client import ModelClient
from framework.models.spending import current
from framework.pipeline.histories import events_of
from framework.pipeline.path import Pipeline
from framework.records import EMPTY, Case
from framework.registry import NoSettings, find, settings_of
from framework.store import Clock, JournalEvent, utc_now
from framework.store.directory import (
    RunDirectory,
    State,
    data_differ,
    load_state,
    read_summary,
    repair_head,
)
from framework.store.openings import register
from framework.text.canonical import digest
from framework.text.tokens import count_tokens

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run: its directory, summary, and whether it was stopped before its end.

    ends_sweep : what stopped it would stop every other job as well.
    """

    directory: Path
    summary: Mapping[str, Any] | None
    stopped: str = ""
    ends_sweep: bool = False


class TooManyErrors(Exception):
    """More cases failed than `max_errors` allows; the run stops, and a resume runs them again."""


_FEW: Final = 50
"""Where the number of rows is not known beforehand, a share of errors is of at least so many."""

_shared: dict[str, Domain[Any]] | None = None


@contextmanager
def one_domain() -> Iterator[None]:
    """Inside, plans of one domain and settings share an instance: a large file is read once."""
    global _shared
    before, _shared = _shared, {}
    try:
        yield
    finally:
        _shared = before


def open_domain(plan: Plan) -> Domain[Any]:
    """The domain of a plan. Of shared ones only the last is kept: they may be large."""
    domain: Domain[Any]
    key = digest(plan.identity["domain"])
    if _shared is not None and key in _shared:
        return _shared[key]
    domain = plan.parts["domain"].create()
    if _shared is not None:
        _shared.clear()
        _shared[key] = domain
    return domain


def execute(
    plan: Plan,
    directory: Path,
    *,
    baseline: Path | None = None,
    baseline_none: Path | None = None,
    origin: RescoreSource | None = None,
    listener: Listener | None = None,
    clock: Clock = utc_now,
) -> Outcome:
    """Run a plan into `directory`; a directory that is there already is gone on with.

    `baseline` is the finished run that the gate compares with, `baseline_none` that of `arch=none`.
    With an `origin`, or in a directory that was begun with one, its answers are judged anew.
    Raises UserError where the directory holds another configuration.
    """
    domain = open_domain(plan)
    inherited = 0
    if directory.exists():
        state = check_same(plan, directory)
        inherited = inherited_events(state)
        if state.finished is not None:
            repair_head(directory, state)
            return Outcome(directory=directory, summary=read_summary(directory))
        changed = changed_since(directory, plan)
        if changed:
            _log.warning(
                "%s: changed since it was begun: %s; rows from before and after may not belong "
                "together", directory, ", ".join(changed),
            )  # fmt: skip
        run = RunDirectory.reopen(directory, changed)
        origin = RescoreSource.read(state.started)
    else:
        spending = current()
        run = begin(
            plan,
            directory,
            data_of(domain),
            spending.scope if spending else None,
            {"rescored_from": origin.plain()} if origin else {},
            clock=clock,
        )
    # Not before: a directory that another process writes is left as it is.
    _log.debug("begun: %s", " ".join(plan.overrides) or "as configured")
    try:
        source: RunProtocol[Any]
        if origin is None:
            source = open_protocol(
                plan,
                write=run.write_event,
                register=lambda opened: register(opened, directory, clock=clock),
                recorded=((e.type, e.payload) for e in run.protocol_events()),
                inherited=inherited,
            )
            model = plan.parts["model"].create()
        else:
            source, model = RescoreProtocol(origin, directory), NoModel(NoSettings())
        pipeline = build_pipeline(plan, domain, model)
        cases = _Cases(domain.cases(plan.top.n_cases, plan.top.seed))
        try:
            asyncio.run(_drive(plan, pipeline, run, source, cases, listener or Listener()))
        except (TooManyErrors, StopRun) as error:
            ends = isinstance(error, StopRun)
            run.write_event("run.stopped", {"reason": str(error), "retry": not ends})
            return Outcome(directory=directory, summary=None, stopped=str(error), ends_sweep=ends)
        except KeyboardInterrupt:
            run.write_event("run.stopped", {"reason": "interrupted"})
            raise
        gate = judge_gate(plan, run.rows, baseline, baseline_none)
        corpus = domain.report(cases.first(REPORTED))
        summary = summarize(plan, run.rows, gate, domain.protected, corpus)
        if pipeline.extractor is not None:
            summary["extraction"] = extraction_of(run.path, run.rows)
        if (report := source.report()) is not None:
            run.write_report(source.name, report)
        run.finish(summary)
        return Outcome(directory=directory, summary=summary)
    finally:
        run.close()


def begin(
    plan: Plan,
    directory: Path,
    data: Mapping[str, Any],
    account: str | None = None,
    origin: Mapping[str, Any] = EMPTY,
    inherited: Iterable[JournalEvent] = (),
    clock: Clock = utc_now,
) -> RunDirectory:
    """A run directory of `plan`, begun.

    `account` names what the run spends on, None where it spends nothing. `origin` tells, under
    `rescored_from`, where its answers come from, or, under `forked_from`, whose events it begins
    with, which are `inherited`.
    """
    started = {
        "config": plan.config,
        "overrides": list(plan.overrides),
        "identity": plan.digest,
        "data": data,
        **({"account": account} if account else {}),
        **origin,
    }
    content = {**manifest(plan, data), **origin}
    return RunDirectory.create(directory, started, content, inherited, clock)


def open_protocol(plan: Plan, **journal: Any) -> RunProtocol[Any]:
    """The protocol of a plan with its parts. `journal`: the fields of `ProtocolContext` on it."""
    part = plan.parts["protocol"]
    parts = {group: plan.parts[group].create() for group in (*part.plugin.cls.groups, "gate")}
    context = ProtocolContext(
        parts=parts,
        settings={group: plan.identity[group] for group in (*parts, "protocol")},
        seed=plan.top.seed,
        **journal,
    )
    protocol: RunProtocol[Any] = part.plugin.cls(part.settings, context)
    return protocol


def inherited_events(state: State) -> int:
    """How many of its protocol's events a run took over from the run that it was forked from."""
    return int(((state.started or {}).get("forked_from") or {}).get("events", 0))


def build_pipeline(plan: Plan, domain: Domain[Any], model: Model[Any] | None = None) -> Pipeline:
    """The one path of a plan.

    `model` stands in for the plan's own. Raises UserError for parts that do not fit each other, and
    where code of answers would be run and can't be isolated.
    """
    protocol = plan.parts["protocol"].plugin
    if protocol.name not in domain.protocols:
        allowed = ", ".join(domain.protocols)
        raise UserError(f"protocol={protocol.name}: domain {plan.label('domain')} allows {allowed}")
    if domain.runs_code and protocol.cls.answers:
        sandbox.require()
    budget: Budget[Any] = plan.parts["budget"].create()
    axes = []
    for name in axes_of(plan):
        axis = find("axis", name)
        axes.append(axis.cls(settings_of(axis, {})))
    model = model or plan.parts["model"].create()
    return Pipeline(
        domain=domain,
        arm=plan.label("arch"),
        arch=plan.parts["arch"].plugin.cls,
        arch_settings=plan.parts["arch"].settings,
        budget_tokens=budget.tokens(plan.option("domain"), domain.nominal_tokens),
        packing=budget.packing,
        reader=plan.parts["reader"].create(),
        model=model,
        client=ModelClient(model, plan.prompts),
        judge=plan.parts["judge"].create(),
        axes=axes,
        seed=plan.top.seed,
        repeats=plan.top.repeats,
        embedder=plan.used["embedder"].create() if "embedder" in plan.used else None,
        extractor=plan.used["extractor"].create() if "extractor" in plan.used else None,
    )


def axes_of(plan: Plan) -> tuple[str, ...]:
    """Names of the axis plugins of a plan: the domain's own and the extra ones."""
    return plan.axes


def check(plan: Plan) -> None:
    """Find, before anything is written, what can be found wrong with a plan's data and budget.

    Raises UserError for missing or malformed data, an empty domain, parts that the protocol can't
    work with, or a budget that is too small for any event of the first history.
    """
    domain = open_domain(plan)
    pipeline = build_pipeline(plan, domain)
    check_prices(plan, served_of(pipeline.model, pipeline.judge, pipeline.embedder))
    plan.parts["tracking"].create()
    open_protocol(plan).check(domain)
    first = next(iter(domain.cases(plan.top.n_cases, plan.top.seed)), None)
    if first is None:
        raise UserError(f"domain {plan.label('domain')} has no cases")
    events = islice(events_of(domain, first.history_id), 200)
    smallest = min((count_tokens(event.text) for event in events), default=0)
    if pipeline.limit is not None and pipeline.limit < smallest:
        raise UserError(
            f"budget={plan.label('budget')}: {pipeline.limit} tokens, less than the smallest event "
            f"of the first history ({smallest} tokens)"
        )


def judge_gate(
    plan: Plan, rows: Any, baseline: Path | None, baseline_none: Path | None
) -> GateOutcome:
    """The gate's outcome on the rows of a run; no verdict without a baseline."""
    part = plan.parts["gate"]
    gate = part.create()
    if baseline is None and gate.baseline is not None:
        return GateOutcome(name=part.plugin.name, passed=None, reason="this run is the baseline")
    against = list(load_state(baseline).rows) if baseline is not None else []
    floor = list(load_state(baseline_none).rows) if baseline_none is not None else None
    outcome: GateOutcome = gate.decide(list(rows), against, plan.top.seed, floor=floor)
    return outcome


def check_same(plan: Plan, directory: Path) -> State:
    """The state of `directory`, which must have been begun with this identity on the same data.

    Raises UserError where it was not, or holds no run.
    """
    state = load_state(directory)
    started = state.started or {}
    if plan.digest != started.get("identity") and not _reads_the_same(plan, directory):
        raise UserError(f"{directory} holds a run of another configuration")
    if differ := data_differ(started.get("data"), data_of(open_domain(plan))):
        raise UserError(f"{directory} was begun on other data than the domain now has: {differ}")
    return state


def _reads_the_same(plan: Plan, directory: Path) -> bool:
    """Whether a run differs from the plan in former names alone, so that its digest is another.

    Its configuration means the plan's today, and its manifest holds the prompts of today.
    """
    asked = read_manifest(directory).get("prompts", {})
    same_prompts = all(asked.get(name, own) == own for name, own in plan.prompt_digests.items())
    return same_prompts and load_plan(directory).digest == plan.digest


def data_of(domain: Domain[Any]) -> dict[str, Any]:
    """Digest and provenance of a domain's data, for the manifest."""
    p = domain.provenance
    return {
        "version": domain.version,
        "digest": domain.digest(),
        "nominal_tokens": domain.nominal_tokens,
        "source": p.source,
        "revision": p.revision,
        "licence": p.licence,
        "citation": p.citation,
    }


class _Cases:
    """The cases of a run, taken once: by its protocol, then what its domain reports on."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self._left = cases
        self._first: list[Case] = []

    def __iter__(self) -> Iterator[Case]:
        for case in self._left:
            if len(self._first) < REPORTED:
                self._first.append(case)
            yield case

    def first(self, n: int) -> Iterator[Case]:
        """The first `n`, those included that were taken already."""
        yield from self._first[:n]
        yield from islice(self._left, max(0, n - len(self._first)))


async def _drive(
    plan: Plan,
    pipeline: Pipeline,
    run: RunDirectory,
    source: RunProtocol[Any],
    cases: Iterable[Case],
    listener: Listener,
) -> None:
    done = frozenset(row.key for row in run.rows)
    errors = sum(1 for row in run.rows if row.error)
    expected = None
    if plan.top.n_cases is not None:
        expected = plan.top.n_cases * pipeline.trials * plan.top.repeats
    too_many: TooManyErrors | None = None
    with (
        listener.rows_of(plan, expected, len(done)) as step,
        graceful_stop(pipeline.cancel) as interrupted,
    ):
        try:
            async for row, record in source.drive(pipeline, cases, done):
                run.add(row, record)
                step(1, bool(row.error))
                errors += bool(row.error)
                try:
                    _stop_on_errors(plan, errors, expected or max(_FEW, len(run.rows)), row.error)
                except TooManyErrors as error:  # what is under way is paid for: it ends first
                    too_many = too_many or error
                    pipeline.cancel.cancel()
            if interrupted():
                raise KeyboardInterrupt
            if too_many is not None:
                raise too_many
        finally:
            await pipeline.model.close()
            for part in (pipeline.judge, pipeline.embedder):
                if part is not None:
                    await part.close()
    # A finite domain may have fewer cases than were asked for.
    last = next((row.error for row in reversed(run.rows) if row.error), "")
    _stop_on_errors(plan, errors, len(run.rows), last)


def _stop_on_errors(plan: Plan, errors: int, rows: int, error: str) -> None:
    allowed = plan.top.max_errors
    limit = allowed * rows if allowed < 1 else allowed
    if error and errors > limit:
        raise TooManyErrors(f"{errors} cases failed; the last: {error}")
