"""Runs made at different times, side by side: what they share, what differs, and their pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework.analysis.remeasured import measured_again
from framework.analysis.summary import SETTING, setting_of
from framework.analysis.sweep import sweep_summary
from framework.config import Plan, stored_plan
from framework.errors import UserError
from framework.records import Row
from framework.store.state import FinishedRun, data_differ
from framework.text.counting import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """Content as of sweep.json, and what must be known beside it, one line each."""

    summary: Mapping[str, Any]
    notes: Sequence[str]


def compare_across(runs: Sequence[FinishedRun], **options: Any) -> Across:
    """Compare finished runs on the cases that all of them have.

    Arms are compared where all else is equal, budget, model and prompts included; a run that stands
    alone is named with what it differs in. Where some runs hold more cases, means and pairs are
    over the shared ones.

    Args:
        runs: finished runs.
        options: of `sweep_summary`.

    Raises:
        UserError: fewer than two runs, runs on other data, seeds or repeats, runs that measure
            budgets by another tokenizer, or without a case in common.
    """
    if len(runs) < 2:
        raise UserError("compare needs two finished runs, or a sweep that has two")
    comparable(runs, same_number=False)
    paths = [run.path for run in runs]
    manifests = [run.manifest for run in runs]
    _check_tokenizer(paths, manifests)
    summaries, rows, notes = _on_shared_cases(runs)
    notes += _alone(paths, summaries)
    notes += _code(paths, manifests)
    found = sweep_summary(summaries, rows, [path.name for path in paths], **options)
    return Across(summary=found, notes=notes)


def _check_tokenizer(paths: Sequence[Path], manifests: Sequence[Mapping[str, Any]]) -> None:
    for path, manifest in zip(paths, manifests, strict=True):
        if manifest["tokenizer"] != manifests[0]["tokenizer"]:
            raise UserError(
                f"{paths[0]} and {path} differ in tokenizer ({manifests[0]['tokenizer']}, "
                f"{manifest['tokenizer']}): their budgets are not the same room"
            )


def _on_shared_cases(
    runs: Sequence[FinishedRun],
) -> tuple[list[Mapping[str, Any]], list[Sequence[Row]], list[str]]:
    """Summaries and rows over the cases that all runs have; as they are where those are all."""
    cases = [{row.case_id for row in run.rows} for run in runs]
    shared = set.intersection(*cases)
    if not shared:
        raise UserError(f"{', '.join(str(run.path) for run in runs)}: no case in common")
    if all(own == shared for own in cases):
        return [run.summary for run in runs], [run.rows for run in runs], []
    kept = [[row for row in run.rows if row.case_id in shared] for run in runs]
    left = ", ".join(
        f"{len(own - shared)} of {run.path.name}"
        for run, own in zip(runs, cases, strict=True)
        if own != shared
    )
    return (
        [
            measured_again(run.summary, own, len(shared))
            for run, own in zip(runs, kept, strict=True)
        ],
        list(kept),
        [
            f"means and pairs are over the {counted(len(shared), 'case')} that all runs have; "
            f"left out: {left}"
        ],
    )


def _alone(paths: Sequence[Path], summaries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Runs that nothing is compared with, and why."""
    keys = ("budget", *SETTING)
    runs = [summary["run"] for summary in summaries]
    places = [(*setting_of(run), run["budget"]) for run in runs]
    for path, run, place in zip(paths, runs, places, strict=True):
        if places.count(place) > 1:
            continue
        others = [other for other in runs if other is not run]
        # The nearest run says it best: the one that differs in the fewest ways.
        differ = min(([k for k in keys if run[k] != other[k]] for other in others), key=len)
        yield (
            f"{path.name} is compared with nothing: it differs in {', '.join(differ)}, and arms "
            "are compared where all else is equal"
        )


def _code(paths: Sequence[Path], manifests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What of the code was not the same, so that a difference may be its doing."""
    first = manifests[0]
    for path, manifest in zip(paths[1:], manifests[1:], strict=True):
        differ = ["framework"] if manifest["framework"] != first["framework"] else []
        differ += [
            group
            for group, plugin in manifest["plugins"].items()
            if plugin["name"] == first["plugins"].get(group, plugin)["name"]
            and plugin["code"] != first["plugins"].get(group, plugin)["code"]
        ]
        if differ:
            yield f"{paths[0].name} and {path.name} were made by other code: {', '.join(differ)}"


def comparable(runs: Sequence[FinishedRun], *, same_number: bool = True) -> None:
    """Raise UserError when runs differ in their cases: domain, data, seed, repeats or number.

    Without `same_number` some may hold more cases: of one seed and domain, the first are the same.
    """
    keys = ["domain", "seed", "repeats", *(["n_cases"] if same_number else [])]
    plans = [stored_plan(run.state) for run in runs]
    first, its_data = plans[0].identity, runs[0].state.started.get("data")
    for run, plan in zip(runs[1:], plans[1:], strict=True):
        differ = [key for key in keys if plan.identity[key] != first[key]]
        if data := data_differ(its_data, run.state.started.get("data")):
            differ.append(data)
        if differ:
            differ_in = ", ".join(dict.fromkeys(differ))
            raise UserError(f"{runs[0].path} and {run.path} differ in {differ_in}")
    check_one_part(plans, "these")
    check_distinct(plans, "these")


def check_one_part(plans: Iterable[Plan], which: str = "two jobs of the sweep") -> None:
    """Raise UserError for runs of several parts of the cases, which are compared on none."""
    parts = list(dict.fromkeys(plan.top.part or "all" for plan in plans))
    if len(parts) > 1:
        raise UserError(f"{which} are of other cases: part={', part='.join(parts)}")


def check_distinct(plans: Sequence[Plan], which: str = "two jobs of the sweep") -> None:
    """Raise UserError for two jobs that are one run, or would bear one name in every table."""
    seen: dict[tuple[object, ...], Plan] = {}
    for plan in plans:
        labels = tuple(plan.labels.values())
        top = plan.top
        varied = (top.seed, top.n_cases, top.repeats, top.prompt_set, top.part)
        known = seen.setdefault((*labels, *varied), plan)
        if known is not plan and known.digest != plan.digest:
            raise UserError(f"{which} would bear one name: {', '.join(labels)}")
    names = [plan.name for plan in plans]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(
            f"{which} are the same run: {twice} (settings alone tell runs apart: a "
            "program that changed needs another arch.version)"
        )
