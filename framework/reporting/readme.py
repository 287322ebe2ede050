"""A sweep's result table in Markdown, as the README shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.analysis.summary import unbudgeted
from framework.errors import UserError
from framework.reporting.format import DAGGER, declared_inputs, short


def sweep_table(summary: Mapping[str, Any], budget: str | None = None) -> str:
    """One Markdown table a domain, budget and model: an arm a row, headline axes with intervals.

    A dagger marks what went through a rule-based model. Raises UserError for an unknown budget.
    """
    jobs: Sequence[Mapping[str, Any]] = summary["jobs"]
    settings = dict.fromkeys(_setting(job) for job in jobs)
    if budget is not None and budget not in {b for _, b, _ in settings}:
        raise UserError(f"no budget {budget!r} in the sweep")
    parts = [
        _one([job for job in jobs if _setting(job) == setting])
        for setting in settings
        if budget in (None, setting[1])
    ]
    return "\n\n".join(parts)


def _setting(job: Mapping[str, Any]) -> tuple[str, str, str]:
    run = job["run"]
    return run["domain"], run["budget"], run["model"]


def _one(jobs: Sequence[Mapping[str, Any]]) -> str:
    run = jobs[0]["run"]
    axes = [a for a in jobs[0]["headline"] if any(a in job["axes"] for job in jobs)]
    tokens = next(
        (j["fairness"]["budget_tokens"] for j in jobs if not unbudgeted(j["fairness"])), None
    )
    title = (
        f"**{run['domain']}, budget {run['budget']} ({tokens} tokens), {run['n_cases']} cases, "
        f"reader {run['reader']}, model {run['model']} ({run['model_kind']})**"
    )
    head = ["arm", *axes, "view tokens", "declared inputs"]
    lines = [_line(head), _line(["---"] * len(head))]
    for job in jobs:
        cells = [_cell(job["axes"].get(axis)) for axis in axes]
        view = job["fairness"].get("mean_view_tokens")
        size = "" if view is None else f"{view:.0f}"
        lines.append(_line([job["run"]["arch"], *cells, size, declared_inputs(job["fairness"])]))
    return "\n".join([title, "", *lines])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(entry: Mapping[str, Any] | None) -> str:
    if entry is None or entry["mean"] is None:
        return "–"
    mark = DAGGER if entry["kind"] == "instrument check" else ""
    if entry["ci_low"] is None:
        return f"{entry['mean']:.2f}{mark}"
    return f"{entry['mean']:.2f}{mark} {short(entry['ci_low'])}–{short(entry['ci_high'])}"
