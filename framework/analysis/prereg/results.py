"""What was predicted, judged on the runs that name it: for the terminal, sweep.json and reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from framework.analysis.forms import poolable
from framework.analysis.prereg.flags import RunInfo
from framework.analysis.prereg.verdicts import Judgement, Measured, judge
from framework.analysis.summary import SETTING
from framework.errors import DataError, UserError
from framework.store.hypotheses import Preregistration, parse
from framework.store.register import Lock, registered
from framework.store.state import FinishedRun
from framework.text.canonical import digest

_UNKNOWN = "unregistered"


def judged_runs(
    runs: Sequence[FinishedRun], entries: Sequence[Lock] | None = None
) -> dict[str, Any] | None:
    """The judgement of finished runs on the pre-registration that they name; None for no name.

    As `as_plain`, with `register`: the locks that it was judged by, None where the register is
    damaged. `entries` of None reads it. Where it can't be judged on these runs, as without one of
    its arms, `verdicts` is empty and `flags` says why.
    """
    named = [content for run in runs if (content := _named(run))]
    if not named:
        return None
    damage: list[str] = []
    if entries is None:
        try:
            entries = registered()
        except DataError as error:
            entries, damage = (), [f"the register is damaged: {error}"]
    wanted = digest(named[0])
    entry = next((entry for entry in entries if entry.digest == wanted), None)
    plan = parse(entry.name if entry else _UNKNOWN, named[0])
    own = [entry for entry in entries if entry.name == plan.name]
    try:
        found = judge(plan, measured_in(runs, plan), own)
    except UserError as error:
        why = f"can't be judged: {error}"
        if plan.base:  # its settings are measured by several sweeps, of which this is one
            why = (
                f"not judged on these runs alone ({error}): `prereg judge` takes all of its sweeps"
            )
        found = Judgement(plan=plan, verdicts=(), flags=(why,))
    register = [{**dataclasses.asdict(entry), "time": entry.time.isoformat()} for entry in own]
    plain = as_plain(found)
    return {
        **plain,
        "flags": [*damage, *plain["flags"]],
        "register": None if damage else register,
    }


def measured_in(runs: Sequence[FinishedRun], plan: Preregistration) -> Measured:
    """The rows of finished runs, and what of each matters to a pre-registration.

    Raises UserError unless the runs differ in nothing but arm and budget, each pair once; where the
    plan has a base they may also differ in its keys, at each setting once, and in the number of
    cases: each hypothesis has its own, and the two sides of one must have the same cases.
    """
    _check_settings(runs, tuple(plan.base))
    return Measured(
        rows=[row for run in runs for row in _rows(run)], runs=[_info(run) for run in runs]
    )


def as_plain(found: Judgement) -> dict[str, Any]:
    """Plan, verdicts and flags as plain data."""
    plain: dict[str, Any] = dataclasses.asdict(found)
    return {**plain, "verdicts": list(plain["verdicts"]), "flags": list(plain["flags"])}


def _named(run: FinishedRun) -> Mapping[str, Any] | None:
    """The content of the pre-registration that a run names."""
    return run.state.started.get("config", {}).get("prereg") or None


def _check_settings(runs: Sequence[FinishedRun], keys: Sequence[str]) -> None:
    first: dict[str, Any] | None = None
    seen: dict[tuple[str, ...], Path] = {}
    # A label names what was set: where that may differ, the option alone must not.
    free = {key.split(".")[0] for key in keys}
    compared = [key for key in SETTING if not (keys and key == "n_cases")]
    for finished in runs:
        path, run = finished.path, finished.summary["run"]
        first = first or run
        differ = [
            key
            for key in compared
            if (_option(run[key]) != _option(first[key]) if key in free else run[key] != first[key])
        ]
        if differ:
            raise UserError(
                f"{runs[0].path} and {path} differ in {', '.join(differ)}: judge them separately"
            )
        place = (run["arch"], run["budget"], *(str(run[key]) for key in sorted(free)))
        same = seen.setdefault(place, path)
        if same is not path:
            raise UserError(f"{same} and {path} are both {' at '.join(place)}")


def _option(label: object) -> str:
    return str(label).partition("(")[0]


def _rows(run: FinishedRun) -> Iterator[dict[str, Any]]:
    config = run.state.started.get("config", {})
    for row in poolable(run.rows):
        yield {
            "case_id": row.case_id,
            "arm": row.arm,
            "budget": run.summary["run"]["budget"],
            "cluster": row.cluster or row.case_id,
            "axes": row.axes,
            "error": row.error,
            "state": row.state,
            "config": config,
        }


def _info(run: FinishedRun) -> RunInfo:
    return RunInfo(
        name=run.path.name,
        began=datetime.fromisoformat(run.state.began),
        prereg=_named(run),
        seed=run.summary["run"]["seed"],
        data_digest=run.state.started.get("data", {}).get("digest"),
        n_errors=sum(1 for row in run.rows if row.error),
    )
