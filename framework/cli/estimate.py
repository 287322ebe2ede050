"""`decisionbench estimate OVERRIDES`, and what `dry_run=true` shows."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.reporting.blocks import Cell


def estimate(args: argparse.Namespace) -> int:
    """Print calls, tokens and dollars by arm and phase of what these overrides would run."""
    return show([*args.overrides, *(["-m"] if args.multirun else [])])


def show(overrides: Sequence[str]) -> int:
    """Print the estimate of a run or sweep; nothing is sent or written."""
    from framework.engine.estimate import estimate as estimated
    from framework.engine.estimate import total
    from framework.reporting.blocks import Table, Text
    from framework.reporting.terminal import print_blocks

    estimates = estimated(overrides)
    rows: list[list[Cell | str]] = [
        [one.arm, one.budget, one.model, phase, *_figures(entry)]
        for one in estimates
        for phase, entry in one.ledger.items()
        if phase != "total" or len(one.ledger) > 2
    ]
    made = Table(
        anchor="estimate",
        caption="estimate: what would be asked",
        columns=["arm", "budget", "model", "phase", "calls", "tokens in", "tokens out",
                 "list price", "to be paid now"],
        rows=[*rows, ["all", "", "", "", *_figures(total(estimates))]],
    )  # fmt: skip
    told = (
        "Tokens are by a typical tokenizer; a provider's own may differ by a fifth. To be paid "
        "now: calls that are not stored yet. Repairs and a provider's prompt cache are left out."
    )
    print_blocks([made, Text(told)])
    return 0


def _figures(entry: Mapping[str, Any]) -> list[Cell]:
    from framework.reporting.blocks import NOTHING, Cell
    from framework.reporting.cells import count

    cost, paid = entry.get("cost_usd", 0.0), entry.get("paid_usd", 0.0)
    calls = f"({counted(entry.get('paid_calls', 0), 'call', ',')})"
    return [
        *(count(entry.get(name, 0)) for name in ("calls", "tokens_in", "tokens_out")),
        *(
            Cell(text=NOTHING if usd is None else f"${usd:,.4f}", under=under, value=usd)
            for usd, under in ((cost, ""), (paid, calls))
        ),
    ]
