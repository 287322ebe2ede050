"""What was predicted, judged on the runs that name it: for the terminal, sweep.json and reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from framework.analysis import prereg
from framework.analysis.summary import SETTING
from framework.errors import DataError, UserError
from framework.store import JOURNAL, read
from framework.store.directory import load_state, read_summary
from framework.text.canonical import digest

_UNKNOWN = "unregistered"


def judged_runs(
    directories: Sequence[Path], entries: Sequence[prereg.Lock] | None = None
) -> dict[str, Any] | None:
    """The judgement of finished runs on the pre-registration that they name; None for no name.

    As `as_plain`, with `register`: the locks that it was judged by, None where the register is
    damaged. `entries` of None reads it. Where it can't be judged on these runs, as without one of
    its arms, `verdicts` is empty and `flags` says why.
    """
    named = [content for path in directories if (content := _named(path))]
    if not named:
        return None
    damage: list[str] = []
    if entries is None:
        try:
            entries = prereg.registered()
        except DataError as error:
            entries, damage = (), [f"the register is damaged: {error}"]
    wanted = digest(named[0])
    entry = next((entry for entry in entries if entry.digest == wanted), None)
    plan = prereg.parse(entry.name if entry else _UNKNOWN, named[0])
    own = [entry for entry in entries if entry.name == plan.name]
    try:
        found = prereg.judge(plan, measured_in(directories, plan), own)
    except UserError as error:
        why = f"can't be judged: {error}"
        if plan.base:  # its settings are measured by several sweeps, of which this is one
            why = (
                f"not judged on these runs alone ({error}): `prereg judge` takes all of its sweeps"
            )
        found = prereg.Judgement(plan=plan, verdicts=(), flags=(why,))
    register = [{**dataclasses.asdict(entry), "time": entry.time.isoformat()} for entry in own]
    plain = as_plain(found)
    return {
        **plain,
        "flags": [*damage, *plain["flags"]],
        "register": None if damage else register,
    }


def measured_in(directories: Sequence[Path], plan: prereg.Preregistration) -> prereg.Measured:
    """The rows of finished runs, and what of each matters to a pre-registration.

    Raises UserError unless the runs differ in nothing but arm and budget, each pair once; where the
    plan has a base they may also differ in its keys, at each setting once, and in the number of
    cases: each hypothesis has its own, and the two sides of one must have the same cases.
    """
    _check_settings(directories, tuple(plan.base))
    rows: list[dict[str, Any]] = []
    runs: list[prereg.RunInfo] = []
    for path in directories:
        own, info = _run(path)
        rows += own
        runs.append(info)
    return prereg.Measured(rows=rows, runs=runs)


def as_plain(found: prereg.Judgement) -> dict[str, Any]:
    """Plan, verdicts and flags as plain data."""
    plain: dict[str, Any] = dataclasses.asdict(found)
    return {**plain, "verdicts": list(plain["verdicts"]), "flags": list(plain["flags"])}


def _named(path: Path) -> Mapping[str, Any] | None:
    """The content of the pre-registration that a run names."""
    return (load_state(path).started or {}).get("config", {}).get("prereg") or None


def _check_settings(directories: Sequence[Path], keys: Sequence[str]) -> None:
    first: dict[str, Any] | None = None
    seen: dict[tuple[str, ...], Path] = {}
    # A label names what was set: where that may differ, the option alone must not.
    free = {key.split(".")[0] for key in keys}
    compared = [key for key in SETTING if not (keys and key == "n_cases")]
    for path in directories:
        run = read_summary(path)["run"]
        first = first or run
        differ = [
            key
            for key in compared
            if (_option(run[key]) != _option(first[key]) if key in free else run[key] != first[key])
        ]
        if differ:
            raise UserError(
                f"{directories[0]} and {path} differ in {', '.join(differ)}: judge them apart"
            )
        place = (run["arch"], run["budget"], *(str(run[key]) for key in sorted(free)))
        same = seen.setdefault(place, path)
        if same is not path:
            raise UserError(f"{same} and {path} are both {' at '.join(place)}")


def _option(label: object) -> str:
    return str(label).partition("(")[0]


def _run(path: Path) -> tuple[list[dict[str, Any]], prereg.RunInfo]:
    state, summary = load_state(path), read_summary(path)
    first = next(iter(read(path / JOURNAL)))
    started = state.started or {}
    rows = [
        {
            "case_id": row.case_id,
            "arm": row.arm,
            "budget": summary["run"]["budget"],
            "cluster": row.cluster or row.case_id,
            "axes": row.axes,
            "error": row.error,
            "config": started.get("config", {}),
        }
        for row in state.rows
    ]
    info = prereg.RunInfo(
        name=path.name,
        began=datetime.fromisoformat(first.time),
        prereg=_named(path),
        seed=summary["run"]["seed"],
        data_digest=started.get("data", {}).get("digest"),
        n_errors=sum(1 for row in state.rows if row.error),
    )
    return rows, info
