"""Runs whose protocol keeps events of its own: replayed from the journal, forked at an event."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from framework.config import Plan, load_plan, stored_plan
from framework.engine.account import new_account
from framework.engine.compose import compose_plan
from framework.engine.domains import open_domain
from framework.engine.job import Job, check_job
from framework.engine.prepare import data_of, prepare
from framework.engine.probed import found_before, probed
from framework.engine.protocols.rescore import NoModel
from framework.engine.run import begin, check_same, inherited_events
from framework.errors import UserError
from framework.registry import NoSettings
from framework.store import JOURNAL, read
from framework.store.state import (
    State,
    first_event,
    load_finished,
    protocol_events,
    read_report,
)
from framework.text.canonical import digest


def keeps_events(plan: Plan) -> bool:
    """Whether the run's protocol writes events of its own."""
    return plan.parts["protocol"].plugin.cls.seal is not None


def replay_events(path: Path, state: State | None = None) -> int:
    """Go through a finished run's events again, with nothing asked or measured; how many there are.

    What was measured and what the author answered is taken from the journal; all else is computed
    again and compared, the protocol's own file included. `state` is the run's, where it was read
    already. Raises UserError where something differs.
    """
    state = state or load_finished(path)
    plan = stored_plan(state)
    check_same(plan, state)
    prepared = prepare(plan, NoModel(NoSettings()))
    events = protocol_events(path)
    count = 0

    def counted() -> Iterator[tuple[str, Mapping[str, Any]]]:
        nonlocal count
        for event in events:
            count += 1
            yield event.type, event.payload

    protocol = prepared.protocol.in_journal(
        write=_refuse, recorded=counted(), inherited=inherited_events(state), live=False
    )
    done = frozenset(row.key for row in state.rows)

    async def drive() -> None:
        async for row, _ in protocol.drive(prepared.pipeline, prepared.cases, done):
            raise UserError(f"{path}: row {row.key} is not in the run")

    asyncio.run(drive())
    if next(events, None) is not None:
        raise UserError(f"{path}: the journal goes on after the loop has ended")
    if digest(read_report(path, protocol.name)) != digest(protocol.report()):
        raise UserError(f"{path}: {protocol.name}.json is not what its events give")
    return count


def fork(path: Path, at: int, overrides: Sequence[str], directory: Path) -> Job:
    """Begin a run at `directory` with the events of `path` up to number `at`, under overrides.

    The events taken over hold as they are; from there on the new configuration decides. Resume
    it as any run that was cut off. Call inside `composer`.

    Raises UserError for a run without such events, a number out of range, or one after the
    protocol's seal: what is chosen from there on would be chosen on what must choose nothing.
    """
    stored = load_plan(path)
    if not keeps_events(stored):
        raise UserError(f"{path}: protocol={stored.label('protocol')} has no events to fork at")
    plan = compose_plan([*stored.overrides, *overrides])
    job = check_job(plan)
    last = next(islice(read(path / JOURNAL), max(0, at), None), None)
    taken = list(protocol_events(path, max(0, at + 1)))
    seal = stored.parts["protocol"].plugin.cls.seal
    for event in taken:
        if event.type == seal:
            raise UserError(
                f"--at {at}: nothing may be chosen after {seal}, event {event.seq}; fork before it"
            )
    if last is None or at < 0:
        raise UserError(f"--at {at}: {path} has no such event")
    origin = {"run": path.name, "seq": at, "hash": last.hash, "events": len(taken)}
    begin(
        plan,
        directory,
        data_of(open_domain(plan)),
        new_account(),
        origin={"forked_from": origin},
        inherited=taken,
        found=found_before(first_event(path).payload)
        if plan.identity["arch"] == stored.identity["arch"]
        else probed(plan),
    ).close()
    return job


def _refuse(type_: str, payload: Mapping[str, Any]) -> None:
    raise UserError(f"the loop comes to {type_}, which is not in the journal")
