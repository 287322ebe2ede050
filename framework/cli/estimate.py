"""`python -m framework estimate OVERRIDES`, and what `dry_run=true` shows."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any


def estimate(args: argparse.Namespace) -> int:
    """Print calls, tokens and dollars by arm and phase of what these overrides would run."""
    return show([*args.overrides, *(["-m"] if args.multirun else [])])


def show(overrides: Sequence[str]) -> int:
    """Print the estimate of a run or sweep; nothing is sent or written."""
    from rich.table import Table

    from framework.engine.estimate import estimate as estimated
    from framework.engine.estimate import total
    from framework.reporting.terminal import terminal

    estimates = estimated(overrides)
    table = Table(title="estimate: what would be asked", title_justify="left")
    for column in ("arm", "budget", "model", "phase"):
        table.add_column(column)
    for column in ("calls", "tokens in", "tokens out", "list price", "to be paid now"):
        table.add_column(column, justify="right")
    for one in estimates:
        for phase, entry in one.ledger.items():
            if phase != "total" or len(one.ledger) > 2:
                table.add_row(one.arm, one.budget, one.model, phase, *_figures(entry))
        table.add_section()
    table.add_row("all", "", "", "", *_figures(total(estimates)))
    shown = terminal()
    shown.print(table)
    shown.print(
        "Tokens are a likely tokenizer's; a provider's own may differ by a fifth. To be paid "
        "now: calls that are not stored yet. Repairs and a provider's prompt cache are left out."
    )
    return 0


def _figures(entry: Mapping[str, Any]) -> tuple[str, ...]:
    cost, paid = entry.get("cost_usd", 0), entry.get("paid_usd", 0)
    return (
        f"{entry.get('calls', 0):,}",
        f"{entry.get('tokens_in', 0):,}",
        f"{entry.get('tokens_out', 0):,}",
        f"${cost:,.4f}",
        f"${paid:,.4f} ({entry.get('paid_calls', 0):,} calls)",
    )
