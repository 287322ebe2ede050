"""Under what conditions: equal budgets, what arms declare of themselves, gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from framework.analysis.axes import correctable, verdicts_behind
from framework.analysis.evidence import Evidence, Group
from framework.contracts.calibration import rates_in
from framework.contracts.run import IS_BASELINE
from framework.reporting.blocks import Block, Cell, Heading, Listing, Note, Text
from framework.reporting.cells import UNDEFINED, count, number_cell, yes_no
from framework.reporting.tables import arms_table, each, table

_DECLARED: Final[Mapping[str, str]] = {
    "query": "asked with",
    "query_names_fields": "asked with the fields' labels",
    "sees_task": "sees the task",
    "knows_schema": "knows the fields",
    "gold_edges": "given the edges",
    "sees_gold": "sees gold",
    "needs_model": "asks a model",
    "adapted": "a third-party system",
    "deterministic": "said to be deterministic",
    "budget_at": "uses the budget at",
    "unbudgeted": "unbudgeted",
    "embedder": "embedder",
    "extractor": "extractor",
}


def budget_use(evidence: Evidence) -> Iterator[Block]:
    """The budget, how far views filled it, and who was not given the same room."""
    yield Heading("Budgets held equal", "budget-use")
    yield Text(
        "All arms of a table above had the same cases, reader, model, prompts, tokenizer and "
        "budget. Could fill: share of rows in which the arm offered at least as many tokens as the "
        "budget. Among these rows, mean views that differ by more than 1% of the budget are "
        "flagged."
    )
    for group in evidence.groups:
        yield from _room(group)
    yield from budget_flags(evidence)


def budget_flags(evidence: Evidence) -> Iterator[Block]:
    """Arms that were not given the same room, or did not use it."""
    flags = evidence.sweep.get("budget_flags", [])
    if flags:
        yield Note(f"Budget use: {len(flags)} flag{'s' if len(flags) > 1 else ''}:")
        yield Listing(flags)
    else:
        yield Text("Budget use: no flags.")


def flags_at_end(evidence: Evidence) -> Iterator[Block]:
    """The same below what a command prints: of a run alone only where there are any."""
    if evidence.is_sweep or evidence.sweep.get("budget_flags"):
        yield from budget_flags(evidence)


def capabilities(evidence: Evidence) -> Iterator[Block]:
    """What each arm declares of itself: its inputs, and what it needs."""
    yield Heading("Declared inputs", "capabilities")
    arms = {job.arm: job.summary["budget_use"] for job in evidence.jobs}
    shown = [key for key in _DECLARED if any(key in given for given in arms.values())]
    yield table(
        "capabilities-table",
        "As each arm declares. A difference between two arms may be due to these inputs.",
        {"arm": "arm", **{_DECLARED[key]: (key, _declared) for key in shown}},
        [{"arm": arm, **given} for arm, given in arms.items()],
    )


def gates(evidence: Evidence) -> Iterator[Block]:
    """The gate of every job that had one to pass."""
    judged = [job for job in evidence.jobs if job.summary["gate"]["passed"] is not None]
    if not judged:
        return
    yield Heading("Gates", "gates")
    yield from gate_lines(evidence)
    findings = [
        {"arm": job.arm, "budget": job.budget, **finding}
        for job in judged
        for finding in job.summary["gate"]["findings"]
    ]
    if findings:
        yield table(
            "gates-findings",
            "The bound, at the one-sided level alpha, must lie above the threshold.",
            {
                "arm": "arm",
                "budget": "budget",
                **each(("axis", "conclusion", "mean"), _part),
                "of the baseline": ("baseline_mean", _part),
                "difference": ("delta", _part),
                **each(("bound", "threshold", "alpha", "n", "errors", "sensitivity"), _part),
            },
            findings,
        )


def gate_lines(evidence: Evidence) -> Iterator[Block]:
    """A line for each gate that judged, or says why it did not."""
    judged = [job for job in evidence.jobs if job.summary["gate"]["passed"] is not None]
    lines = [said for job in judged or evidence.jobs if (said := gate_verdict(job.summary))]
    if lines:
        yield Listing(lines)


def gate_verdict(summary: Mapping[str, Any]) -> str:
    """The verdict of a run's gate in words, by its summary.json; empty where there is none."""
    gate, run = summary["gate"], summary["run"]
    if gate["passed"] is None and gate["reason"] != IS_BASELINE:
        return ""
    wrong = [found for found in gate["findings"] if not found.get("passed")]
    shown = not wrong or any(found.get("conclusion", "failed") == "failed" for found in wrong)
    failed = "FAILED" if shown else "NOT PASSED"  # it can't be decided
    outcome = {True: "passed", False: failed, None: "no verdict"}[gate["passed"]]
    said = f"gate {gate['name']} for {run['arch']} {run['budget']}: {outcome}. {gate['reason']}"
    known, of_axis = rates_in(summary.get("judge_error")), correctable()
    for axis in sorted({finding.get("axis") for finding in gate["findings"]} & of_axis.keys()):
        source = verdicts_behind(axis, str(summary.get("success_axis") or ""))
        if source and (rates := known.get(of_axis[source].demand_of(source))) is not None:
            said += (
                f"; {axis} is of the judge's verdicts as they are, which show "
                f"{rates.discrimination:.2f} of a difference"
            )
        elif flag := summary["axes"].get(axis, {}).get("judge_error"):
            said += f"; {axis}: {flag}"
    return said


def _room(group: Group) -> Iterator[Block]:
    yield from arms_table(
        group,
        "budget-use-table",
        "Tokens of views",
        {
            "tokens": lambda room: (
                "unbudgeted" if room.get("unbudgeted") else count(room["budget_tokens"])
            ),
            "mean view": ("mean_view_tokens", _tokens),
            "largest view": ("max_view_tokens", count),
            "could fill": ("could_fill", _percentage),
            "mean view where it could": ("mean_view_tokens_could_fill", _tokens),
        },
        ((job, job.summary["budget_use"]) for job in group.by_budget),
    )


def _tokens(mean: float | None) -> Cell:
    return number_cell(mean, 1)


def _percentage(share: float | None) -> Cell:
    return UNDEFINED if share is None else Cell(text=f"{share:.0%}", value=float(share))


def _declared(value: object) -> Cell:
    if value is None:
        return UNDEFINED
    return yes_no(value) if isinstance(value, bool) else Cell(text=str(value))


def _part(value: object) -> Cell:
    if value is None:
        return UNDEFINED
    if isinstance(value, float):
        return number_cell(value)
    return count(value) if isinstance(value, int) else Cell(text=str(value))
