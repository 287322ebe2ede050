"""What a run is made of: its domain, the one path, its protocol, gate and cases, built once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from framework import sandbox
from framework.config import Plan, TopLevel
from framework.contracts import (
    REPORTED,
    Budget,
    Domain,
    Gate,
    Model,
    Part,
    ProtocolContext,
    Provenance,
    RunProtocol,
)
from framework.engine.account import check_prices, served_of
from framework.engine.declared import check_domain
from framework.engine.domains import open_domain
from framework.errors import UserError
from framework.models.client import ModelClient
from framework.pipeline.histories import events_of
from framework.pipeline.path import Pipeline
from framework.records import Case
from framework.registry import find, settings_of
from framework.text.counting import counted
from framework.text.tokens import count_tokens


class Cases:
    """The cases of a run, each drawn once; the first `REPORTED` are kept and come again."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self._left = cases
        self._first: list[Case] = []

    def __iter__(self) -> Iterator[Case]:
        yield from self._first
        for case in self._left:
            if len(self._first) < REPORTED:
                self._first.append(case)
            yield case


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What one run is made of: its check builds it, and the run uses it."""

    pipeline: Pipeline
    protocol: RunProtocol[Any]
    gate: Gate[Any]
    cases: Cases

    async def close(self) -> None:
        """Let go of what is served, when the run has ended."""
        for part in (self.pipeline.model, self.pipeline.judge, self.pipeline.embedder):
            if part is not None:
                await part.close()


def prepare(
    plan: Plan, model: Model[Any] | None = None, protocol: RunProtocol[Any] | None = None
) -> Prepared:
    """Build a run's parts. `model` and `protocol` stand in for the plan's own.

    Raises UserError as `build_pipeline`.
    """
    domain = open_domain(plan)
    gate: Gate[Any] = plan.parts["gate"].create()
    return Prepared(
        pipeline=build_pipeline(plan, domain, model),
        protocol=protocol or _open_protocol(plan, gate),
        gate=gate,
        cases=Cases(_cases(domain, plan.top, plan.parts["protocol"].plugin.cls.groups)),
    )


def _cases(domain: Domain[Any], top: TopLevel, groups: Sequence[str]) -> Iterator[Case]:
    cases = _distinct(domain, top)
    if top.part is None:
        return cases
    if groups:
        raise UserError(f"part={top.part}: the protocol divides the cases itself")
    return iter(part_named(top.part).of(cases, top.seed))


def part_named(given: str) -> Part:
    """The part that `part=GIVEN` asks for. Raises UserError where it fits none."""
    name, _, behind = given.partition(":")
    part: Part = find("part", name).cls(behind)
    return part


def _distinct(domain: Domain[Any], top: TopLevel) -> Iterator[Case]:
    """The first cases of a domain, as many as were asked for.

    Raises UserError for an id that is no text, or that an earlier case has. Ids in their order, as
    those of most generated cases, need not be remembered.
    """
    drawn = partial(domain.cases, top.n_cases, top.seed)
    last, known = "", None
    for number, case in enumerate(islice(drawn(), top.n_cases)):
        if any(str(name) != name for name in (case.id, case.history_id)):
            raise UserError(
                f"domain: case {case.id!r} of history {case.history_id!r}: ids must be text"
            )
        if known is None and number and case.id <= last:
            known = {earlier.id for earlier in islice(drawn(), number)}
        if known is not None:
            if case.id in known:
                raise UserError(f"domain={domain.name}: two cases have the id {case.id!r}")
            known.add(case.id)
        last = case.id
        yield case


def _open_protocol(plan: Plan, gate: Gate[Any]) -> RunProtocol[Any]:
    part = plan.parts["protocol"]
    parts = {group: plan.parts[group].create() for group in part.plugin.cls.groups}
    parts["gate"] = gate
    context = ProtocolContext(
        parts=parts,
        settings={group: plan.identity[group] for group in (*parts, "protocol")},
        seed=plan.top.seed,
    )
    protocol: RunProtocol[Any] = part.plugin.cls(part.settings, context)
    return protocol


def build_pipeline(plan: Plan, domain: Domain[Any], model: Model[Any] | None = None) -> Pipeline:
    """The one path of a plan.

    `model` stands in for the plan's own. Raises UserError for parts that do not fit each other, and
    where code of answers would be run and can't be isolated.
    """
    protocol = plan.parts["protocol"].plugin
    if not {protocol.name, protocol.cls.like} & set(domain.protocols):
        allowed = ", ".join(domain.protocols)
        raise UserError(f"protocol={protocol.name}: domain {plan.label('domain')} allows {allowed}")
    if domain.runs_code and protocol.cls.answers:
        sandbox.require()
    budget: Budget[Any] = plan.parts["budget"].create()
    axes = []
    for name in plan.axes:
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


def check(plan: Plan) -> Prepared:
    """Find, before anything is written, what can be found wrong with a plan's data and budget.

    Raises UserError for missing or malformed data, an empty domain, parts that the protocol can't
    work with, an arm that can't be opened here, or a budget that is too small for any event of the
    first history.
    """
    prepared = prepare(plan)
    pipeline = prepared.pipeline
    domain = pipeline.domain
    check_domain(domain)
    _check_trials(pipeline)
    check_prices(plan, served_of(pipeline.model, pipeline.judge, pipeline.embedder))
    plan.parts["tracking"].create()
    prepared.protocol.check(domain)
    first = next(iter(prepared.cases), None)
    if first is None:
        raise UserError(f"domain {plan.label('domain')} has no cases")
    events = islice(events_of(domain, first.history_id), 200)
    smallest = min((count_tokens(event.text) for event in events), default=0)
    if pipeline.limit is not None and pipeline.limit < smallest:
        raise UserError(
            f"budget={plan.label('budget')}: {counted(pipeline.limit, 'token')}, less than "
            f"the smallest event of the first history ({counted(smallest, 'token')})"
        )
    return prepared


def _check_trials(pipeline: Pipeline) -> None:
    """Raise UserError for an arm that can't be opened here, or that says no number of trials."""
    arch, option = pipeline.arch, pipeline.arm.partition("(")[0]
    try:
        trials: Any = pipeline.trials
    except UserError as error:
        named = option == arch.name or str(error).startswith(option)
        raise UserError(f"{'' if named else f'arch={option}: '}{error}") from None
    if type(trials) is not int or trials < 1:
        raise UserError(
            f"arch={arch.name} ({arch.__module__}.{arch.__qualname__}): trials is {trials!r}, "
            "a whole number of at least 1 expected"
        )


def data_of(domain: Domain[Any]) -> dict[str, Any]:
    """Digest and provenance of a domain's data, for the manifest."""
    return {
        "version": domain.version,
        "digest": domain.digest(),
        "nominal_tokens": domain.nominal_tokens,
        **stated(domain.provenance),
    }


def stated(provenance: Provenance) -> dict[str, str]:
    """What is said of where data come from, by name; the known files are left out."""
    texts = ("source", "revision", "licence", "citation", "main_score", "schema")
    return {name: said for name in texts if (said := getattr(provenance, name))}
