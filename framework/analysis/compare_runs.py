"""Which runs may stand side by side: of the same cases, and told apart by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from framework.config import Plan, stored_plan
from framework.errors import UserError
from framework.store.state import FinishedRun, data_differ


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
        raise UserError(f"{which} have different cases: part={', part='.join(parts)}")


def check_distinct(plans: Sequence[Plan], which: str = "two jobs of the sweep") -> None:
    """Raise UserError for two jobs that are one run, or would bear one name in every table."""
    seen: dict[tuple[object, ...], Plan] = {}
    for plan in plans:
        labels = tuple(plan.labels.values())
        top = plan.top
        varied = (top.seed, top.n_cases, top.repeats, top.prompt_set, top.part)
        known = seen.setdefault((*labels, *varied), plan)
        if known is not plan and known.digest != plan.digest:
            raise UserError(f"{which} would have the same name: {', '.join(labels)}")
    names = [plan.name for plan in plans]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(
            f"{which} are the same run: {twice} (settings alone tell runs apart: a "
            "program that changed needs another arch.version)"
        )
