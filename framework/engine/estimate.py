"""What runs would ask a language model and what it would cost, with nothing sent or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.analysis.summary import ledger, unpriced
from framework.engine.compose import composer
from framework.engine.domains import one_domain
from framework.engine.dry_run import dry_run_rows, plans_of
from framework.models.dry_run import DryRun, as_dry_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One run's ledger by phase and in `total`, as its summary would hold it.

    `paid_calls` and `paid_usd` are what is not stored yet, nor asked by a run before it.
    """

    arm: str
    budget: str
    model: str
    ledger: Mapping[str, Mapping[str, Any]]


def estimate(overrides: Sequence[str]) -> list[Estimate]:
    """An estimate of every run that these overrides would make.

    The path is the run's own, its language models replaced by rule-based answers, so what depends
    on an answer (a summary's length, a repair) is as the rules would have it: no repairs, and no
    discount for what a provider keeps of a prompt. Raises UserError as a run would.
    """
    with composer(), one_domain(), as_dry_run(DryRun()):
        return [
            Estimate(
                arm=plan.label("arch"),
                budget=plan.label("budget"),
                model=plan.label("model"),
                ledger=ledger(
                    dry_run_rows(plan),
                    priced=not unpriced(plan, plan.parts["judge"].create()),
                ),
            )
            for plan in plans_of(overrides)
        ]


def total(estimates: Sequence[Estimate]) -> dict[str, Any]:
    """The sums over all runs; of dollars None where some run has something without a price."""
    names = ("calls", "paid_calls", "tokens_in", "tokens_out", "cost_usd", "paid_usd")
    found = {name: [e.ledger["total"].get(name, 0) for e in estimates] for name in names}
    return {name: None if None in each else sum(each) for name, each in found.items()}
