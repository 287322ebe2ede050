"""A sweep's result table in Markdown, as the README shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.reporting.tables import told


def sweep_table(summary: Mapping[str, Any]) -> str:
    """One Markdown table a budget: arms in rows, headline axes with their 95% intervals.

    Findings (no model) come before values that went through the rule-based model, whose columns are
    marked with a dagger.
    """
    jobs: Sequence[Mapping[str, Any]] = summary["jobs"]
    budgets = dict.fromkeys((job["run"]["budget"], job["run"]["model"]) for job in jobs)
    parts = [
        _one([j for j in jobs if (j["run"]["budget"], j["run"]["model"]) == setting])
        for setting in budgets
    ]
    return "\n\n".join(parts)


def _one(jobs: Sequence[Mapping[str, Any]]) -> str:
    run = jobs[0]["run"]
    axes = [a for a in jobs[0]["headline"] if any(a in job["axes"] for job in jobs)]
    kinds = {a: next(j["axes"][a]["kind"] for j in jobs if a in j["axes"]) for a in axes}
    axes.sort(key=lambda a: kinds[a] != "finding")
    tokens = next(
        (j["fairness"]["budget_tokens"] for j in jobs if not j["fairness"]["exempt"]), None
    )
    title = f"**{run['domain']}, budget {run['budget']} ({tokens} tokens), {run['n_cases']} cases**"
    names = [a if kinds[a] == "finding" else f"{a}†" for a in axes]
    head = ["arm", *names, "view tokens", "told"]
    lines = [_line(head), _line(["---"] * len(head))]
    for job in jobs:
        cells = [_cell(job["axes"].get(axis)) for axis in axes]
        view = job["fairness"].get("mean_view_tokens")
        size = "" if view is None else f"{view:.0f}"
        lines.append(_line([job["run"]["arch"], *cells, size, told(job["fairness"])]))
    return "\n".join([title, "", *lines])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(entry: Mapping[str, Any] | None) -> str:
    if entry is None or entry["mean"] is None:
        return "–"
    if entry["ci_low"] is None:
        return f"{entry['mean']:.2f}"
    return f"{entry['mean']:.2f} [{entry['ci_low']:.2f}, {entry['ci_high']:.2f}]"
