"""Runs made at different times, side by side: what they share, what differs, and their pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework.analysis.summary import SETTING, axes_of_rows, ledger, room_of_rows, setting_of
from framework.analysis.sweep import sweep_summary
from framework.config import Plan, load_plan
from framework.errors import UserError
from framework.records import Row
from framework.store import MANIFEST
from framework.store.directory import data_differ, load_state, read_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """Content as of sweep.json, and what must be known beside it, one line each."""

    summary: Mapping[str, Any]
    notes: Sequence[str]


def compare_across(paths: Sequence[Path], **options: Any) -> Across:
    """Compare finished runs on the cases that all of them have.

    Arms are compared where all else is equal, budget, model and prompts included; a run that stands
    alone is named with what it differs in. Where some runs hold more cases, means and pairs are
    over the shared ones.

    Args:
        paths: run directories.
        options: of `sweep_summary`.

    Raises:
        UserError: fewer than two runs, runs on other data, seeds or repeats, runs that measure
            budgets by another tokenizer, or without a case in common.
    """
    if len(paths) < 2:
        raise UserError("compare needs two runs or a sweep")
    summaries = [read_summary(path) for path in paths]
    comparable(paths, same_number=False)
    manifests = [_manifest(path) for path in paths]
    _check_tokenizer(paths, manifests)
    rows: list[Sequence[Row]] = [load_state(path).rows for path in paths]
    summaries, rows, notes = _on_shared_cases(paths, summaries, rows)
    notes += _alone(paths, summaries)
    notes += _code(paths, manifests)
    found = sweep_summary(summaries, rows, [path.name for path in paths], **options)
    return Across(summary=found, notes=notes)


def _manifest(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    return found


def _check_tokenizer(paths: Sequence[Path], manifests: Sequence[Mapping[str, Any]]) -> None:
    for path, manifest in zip(paths, manifests, strict=True):
        if manifest["tokenizer"] != manifests[0]["tokenizer"]:
            raise UserError(
                f"{paths[0]} and {path} differ in tokenizer ({manifests[0]['tokenizer']}, "
                f"{manifest['tokenizer']}): their budgets are not the same room"
            )


def _on_shared_cases(
    paths: Sequence[Path], summaries: Sequence[dict[str, Any]], rows: Sequence[Sequence[Row]]
) -> tuple[list[dict[str, Any]], list[Sequence[Row]], list[str]]:
    """Summaries and rows over the cases that all runs have; as they are where those are all."""
    cases = [{row.case_id for row in own} for own in rows]
    shared = set.intersection(*cases)
    if not shared:
        raise UserError(f"{', '.join(map(str, paths))}: no case in common")
    if all(own == shared for own in cases):
        return list(summaries), list(rows), []
    kept = [[row for row in own if row.case_id in shared] for own in rows]
    left = ", ".join(
        f"{len(own - shared)} of {path.name}"
        for path, own in zip(paths, cases, strict=True)
        if own != shared
    )
    return (
        [
            _narrowed(summary, own, len(shared))
            for summary, own in zip(summaries, kept, strict=True)
        ],
        list(kept),
        [f"means and pairs are over the {len(shared)} cases that all runs have; left out: {left}"],
    )


def _narrowed(summary: Mapping[str, Any], rows: Sequence[Row], n_cases: int) -> dict[str, Any]:
    """The summary over fewer cases: all that `sweep_summary` takes from it is of these rows."""
    good = [row for row in rows if not row.error]
    fresh = axes_of_rows(good, int(summary["run"]["seed"]))
    return {
        **summary,
        "run": {**summary["run"], "n_cases": n_cases},
        "axes": {
            axis: {**entry, "kind": summary["axes"][axis]["kind"]}
            for axis, entry in fresh.items()
            if axis in summary["axes"]  # a run of before a measure was made has no kind of it
        },
        "fairness": {**summary["fairness"], **room_of_rows(good)},
        "ledger": ledger(rows),
        "errors": {**summary["errors"], "n": len(rows) - len(good)},
        "treatment": None,
    }


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


def comparable(paths: Sequence[Path], *, same_number: bool = True) -> None:
    """Raise UserError when runs differ in their cases: domain, data, seed, repeats or number.

    Without `same_number` some may hold more cases: of one seed and domain, the first are the same.
    """
    keys = ["domain", "seed", "repeats", *(["n_cases"] if same_number else [])]
    identities = [load_plan(path).identity for path in paths]
    data = [(load_state(path).started or {}).get("data") for path in paths]
    for path, identity, its_data in zip(paths[1:], identities[1:], data[1:], strict=True):
        differ = [key for key in keys if identity[key] != identities[0][key]]
        if its := data_differ(data[0], its_data):
            differ.append(its)
        if differ:
            raise UserError(f"{paths[0]} and {path} differ in {', '.join(dict.fromkeys(differ))}")
    check_distinct([load_plan(path) for path in paths])


def check_distinct(plans: Sequence[Plan]) -> None:
    """Raise UserError for two jobs that are one run, or would bear one name in every table."""
    seen: dict[tuple[object, ...], Plan] = {}
    for plan in plans:
        labels = tuple(plan.labels.values())
        top = plan.top
        varied = (top.seed, top.n_cases, top.repeats, top.prompt_set)
        known = seen.setdefault((*labels, *varied), plan)
        if known is not plan and known.digest != plan.digest:
            raise UserError(f"two jobs of the sweep would bear one name: {', '.join(labels)}")
    names = [plan.name for plan in plans]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two jobs of the sweep are the same run: {twice}")
