"""The account that a run or sweep spends on: which one, where, and with what caps."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from math import floor
from pathlib import Path
from typing import Any, Final

from framework.config import Plan
from framework.contracts import Embedder, Judge, Model
from framework.errors import UserError
from framework.models.prices import no_price
from framework.models.spending import Spending, Spent, spent_on
from framework.models.transport import Served
from framework.store.directory import SWEEP_PLAN
from framework.store.state import State
from framework.text.counting import counted
from framework.text.reading import read_json

SPENDING: Final = ".spending.sqlite"
"""The file of accounts, beside the directories of runs and sweeps."""
OWN: Final = ".own"
"""Of a sweep's directory: files that one job alone opens."""

_log = logging.getLogger(__name__)


@contextmanager
def account(
    plan: Plan, directory: Path, sweep: Path | None, begun: State | None
) -> Iterator[Spending]:
    """Inside, calls to language models are paid from the account of the run or sweep.

    A directory that is there already, whose state is `begun`, keeps its account, and so
    what it has spent. What a run spent is logged at its end, what a sweep spent at the end of all
    (`tell_spent`).
    """
    known = _of_sweep(sweep) if sweep else None
    own = begun.started.get("account") if begun else None
    # Of a sweep without an account each job has its own, in a file that no other job opens.
    top = own_files(directory) if sweep and not known else sweep or directory
    spending = _opened(plan, top, known or own)
    try:
        with spent_on(spending):
            yield spending
    finally:
        _close(spending, "" if sweep else "run")


def own_files(job: Path) -> Path:
    """Where, in a sweep's directory, files lie that one job alone opens, whatever machine it is on.

    They stand beside this path, which is itself nowhere.
    """
    return job.parent / OWN / job.name / job.name


def own_caches(plan: Plan, job: Path) -> list[str]:
    """Where a job that shares nothing keeps what it was answered: in files that it alone opens.

    Of an arm's indexes (`arch.cache`) it has none of its own: each is there whole or not at all.
    """
    files = own_files(job).parent
    return [
        f"{group}.{field.name}={str(files / Path(named).name)!r}"
        for group, part in plan.used.items()
        for field in fields(part.settings)
        if group != "arch"
        and field.name == "cache"
        and (named := getattr(part.settings, field.name))
    ]


def dealt_caps(plan: Plan, n: int) -> list[str]:
    """The part of each cap that one of n jobs has."""
    usd, tokens = plan.top.max_cost_usd, plan.top.max_tokens_total
    of_usd = [] if usd is None else [f"max_cost_usd={floor(usd / n * 1e6) / 1e6}"]
    return of_usd + ([] if tokens is None else [f"max_tokens_total={tokens // n}"])


def joint_account(plan: Plan, directory: Path, jobs: Sequence[State]) -> str:
    """The name of a new account of a run that has all that jobs with own accounts have spent."""
    joint = _opened(plan, directory, None)
    for job in jobs:
        own = _opened(plan, own_files(job.path), job.started.get("account"))
        joint.take_over(own)
        own.close()
    joint.close()
    return joint.scope


def tell_spent(plan: Plan, sweep: Path) -> None:
    """Log what a sweep has spent so far, by all its jobs, where they have one account."""
    if known := _of_sweep(sweep):
        _close(_opened(plan, sweep, known), "sweep")


def _opened(plan: Plan, top: Path, known: str | None) -> Spending:
    return Spending(
        top.absolute().parent / SPENDING,
        known or new_account(),
        max_usd=plan.top.max_cost_usd,
        max_tokens=plan.top.max_tokens_total,
    )


def _close(spending: Spending, whose: str) -> None:
    spent = spending.total() if whose else Spent()
    spending.close()
    if spent.calls or spent.lost_calls:
        _log.info(told(spent, whose))


def told(spent: Spent, whose: str) -> str:
    """What was spent, in a line; without dollars where nothing had a price."""
    usd = f"${spent.usd:.4f}, " if spent.usd else ""
    used = f"{counted(spent.calls, 'call')}, {counted(spent.tokens, 'token')}"
    line = f"spent by the {whose}: {usd}{used}"
    if spent.lost_calls:
        line += (
            f"; {counted(spent.lost_calls, 'call')} whose answer never came may have been billed "
            "as well" + (f", at most ${spent.lost_usd:.4f}" if spent.lost_usd else "")
        )
    return line


def new_account() -> str:
    """A name for an account that no other run has."""
    return secrets.token_hex(8)


def served_of(
    model: Model[Any] | None, judge: Judge[Any] | None, embedder: Embedder[Any] | None = None
) -> list[Served[Any]]:
    """What is served, and so has a price, among the parts of a run."""
    parts: tuple[object, ...] = (model, judge.model if judge is not None else None, embedder)
    return [part for part in parts if isinstance(part, Served)]


def check_prices(plan: Plan, models: list[Served[Any]]) -> None:
    """Raise UserError for a model without a price where dollars are capped; else log it."""
    for name in sorted({m.settings.name for m in models if m.price is None}):
        missing = no_price(name)
        if plan.top.max_cost_usd is not None:
            raise UserError(f"max_cost_usd: {missing}, or cap tokens by max_tokens_total")
        _log.warning("%s (until then its tokens are counted, its dollars left empty)", missing)


def _of_sweep(path: Path) -> str | None:
    """The account in the plan of a sweep; None where it has none."""
    stored: str | None = read_json((path / SWEEP_PLAN).read_bytes()).get("account")
    return stored
