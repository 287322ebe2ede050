"""Runs made at different times, side by side: what they share, what differs, and their pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework.analysis.compare_runs import comparable
from framework.analysis.remeasured import measured_again
from framework.analysis.summary import SETTING, setting_of
from framework.analysis.sweep import sweep_summary
from framework.errors import UserError
from framework.records import Row
from framework.store.state import FinishedRun
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
                f"{manifest['tokenizer']}): their budgets are not the same size"
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
            f"{path.name} is not compared: it differs in {', '.join(differ)}, and arms are "
            "compared only if everything else is equal"
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
        there = first.get("packages", {})  # a plugin's own file is not all that it runs
        of_packages = manifest.get("packages", {}).items()
        differ += [name for name, code in of_packages if there.get(name, code) != code]
        if differ:
            yield f"{paths[0].name} and {path.name} were made by other code: {', '.join(differ)}"
