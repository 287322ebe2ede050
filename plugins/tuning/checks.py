"""Whether what a plan says under `tuning` is what its trials give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from framework.analysis.axes import axis_meta
from framework.analysis.forms import model_free, of_read_forms
from framework.engine.compose import key_of
from framework.errors import UserError
from framework.records import Row
from framework.rows import by_session
from framework.store.state import load_finished, read_run, read_summary
from framework.text.counting import counted
from plugins.tuning.parts import TUNING

_SAME: Final = ("domain", "budget", "embedder", "extractor", "reader", "model", "protocol", "seed",
                "n_cases", "repeats")  # fmt: skip
"""What a trial shares with the job of its arm."""
_LABELS: Final = {"arm": "arch", "budget": "budget"}


def value_of(run: Path, objective: str, *, higher: bool) -> float:
    """The mean of the objective in a trial. Raises UserError where it has none.

    Of a share a row that failed, or was not answered (`Row.state`), has the worst value: settings
    that fail on the hard cases would else be chosen by the mean of the others.
    """
    found, meta = read_run(run), axis_meta()[objective]
    mean = found.summary["axes"].get(objective, {}).get("mean")
    rows = by_session(found.rows)
    if not (meta["amount"] or meta["signed"]) and any(_failed(row, objective) for row in rows):
        mean = _with_failed(rows, objective, 0.0 if higher else 1.0)
    if mean is None:
        raise UserError(f"hydra.sweeper.objective: {objective} is undefined in {run}")
    return float(mean)


def _failed(row: Row, objective: str) -> bool:
    return bool(row.error or row.state) and row.axes.get(objective) is None


def _with_failed(rows: Sequence[Row], objective: str, worst: float) -> float:
    """The mean over cases, of forms that were read, where a failed row has the worst value."""
    values: dict[str, list[float]] = {}
    for row in rows if objective in model_free(rows) else of_read_forms(rows):
        value = worst if _failed(row, objective) else row.axes.get(objective)
        if value is not None:
            values.setdefault(row.case_id, []).append(value)
    return fmean(map(fmean, values.values())) if values else worst


def spent_by(runs: Sequence[Path]) -> dict[str, Any]:
    """What distinct trials took: their number, cases each, and calls and dollars of all of them."""
    summaries = [read_summary(run) for run in runs]
    totals = [summary["ledger"]["total"] for summary in summaries]
    costs = [total.get("cost_usd", 0) for total in totals]
    return {
        "distinct": len(runs),
        "n_cases": summaries[0]["run"]["n_cases"],
        "calls": sum(total.get("calls", 0) for total in totals),
        "cost_usd": None if None in costs else sum(costs),
    }


def trials_of(plan: Mapping[str, Any]) -> set[str]:
    """The directories of the trials that a plan tells of; none of what is no plan of a tuning."""
    try:
        arms = plan["tuning"]["arms"] if plan["tuning"]["done"] else ()
        return {str(trial["directory"]) for arm in arms for trial in arm.get("tried", ())}
    except (LookupError, TypeError, AttributeError):
        return set()


def problems_of(path: Path, plan: Mapping[str, Any]) -> list[str]:
    """What the runs in a sweep's directory do not bear out, a line each."""
    tuning = plan.get("tuning")
    if not tuning or not tuning["done"]:
        return []
    jobs = [_config(path / job["name"]) for job in plan["jobs"]]
    # The arms as they are come first, in their order.
    found = []
    for arm, own, job in zip(tuning["arms"], jobs, plan["jobs"], strict=False):
        said = list(_of_arm(path, tuning, arm, own, jobs)) if arm["space"] else []
        bare = [o for o in job["overrides"] if key_of(o) != "part"]
        told = {**{name: own["labels"][group] for name, group in _LABELS.items()},
                "overrides": bare}  # fmt: skip
        said += _not_as_told(arm, told)
        found += [f"{own['labels']['arch']}: {one}" for one in said]
    return found


def _not_as_told(arm: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    return [f"{key} is not that of its runs" for key in told if arm.get(key) != told[key]]


def _of_arm(
    path: Path,
    tuning: Mapping[str, Any],
    arm: Mapping[str, Any],
    own: Mapping[str, Any],
    jobs: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """Own : the configuration of the arm's job as it is. jobs : those of the comparison."""
    tried = arm["tried"]
    if len(tried) != tuning["trials"]:
        yield f"{counted(len(tried), 'trial')} of {tuning['trials']}"
    for number, trial in enumerate(tried, 1):
        run = path / Path(trial["directory"]).name
        given = _config(run)
        settings = {**own["arch"], **trial["settings"]}
        if given["arch"] != settings or given["part"] != TUNING or not _of_one_draw(given, own):
            yield f"trial {number} was not run with these settings on the tuning cases"
        higher = tuning["higher_is_better"]
        if value_of(run, tuning["objective"], higher=higher) != trial["value"]:
            yield f"trial {number} gave another value"
    best = (max if tuning["higher_is_better"] else min)(trial["value"] for trial in tried)
    first = next(trial for trial in tried if trial["value"] == best)
    if first["settings"] != arm["chosen"]:
        yield "what was chosen is not the first of the best trials"
    wanted = {**own["arch"], **arm["chosen"]}
    if not any(job["arch"] == wanted and _of_one_draw(job, own) for job in jobs):
        yield "no job of the comparison has the settings that were chosen"
    if ("tuned" in arm) is not bool(arm["chosen"]):
        yield "tuned is not what was chosen"
    runs = dict.fromkeys(path / Path(trial["directory"]).name for trial in tried)
    yield from _not_as_told(arm, spent_by(list(runs)))


def _of_one_draw(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two runs had the same cases to draw from, and differ at most in their memory."""
    return all(one[key] == other[key] for key in _SAME)


def _config(run: Path) -> Mapping[str, Any]:
    """The configuration that a finished run was made from."""
    found: Mapping[str, Any] = load_finished(run).started["config"]
    return found
