"""Packing: what fits of the recalled items goes into the view, in their order, under the budget.

This is the last step before the reader and nothing bypasses it: whatever an arm returns, a view
never holds more tokens than its budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal

from framework.records import Item, MemoryView, TraceEntry
from framework.text.counting import counted
from framework.text.tokens import count_tokens, truncate

SLACK = 0.01
"""Share of the budget that a cut at a sentence may leave free before the cut is made at a word."""

FULL: Final = "the budget was full"
"""Why an item stayed out that packing never came to."""


def pack(
    items: Sequence[Item],
    budget_tokens: int | None,
    packing: Literal["truncate", "whole"],
    count: Callable[[str], int] = count_tokens,
) -> MemoryView:
    """The view of `items`, best first, under `budget_tokens` (None: no limit).

    truncate : items go in whole until one does not fit; that one is cut, the rest stay out.
    whole : an item that does not fit stays out, later ones may still fit.
    count : `count_tokens`, which may remember what it counted.
    """
    left: float = math.inf if budget_tokens is None else budget_tokens
    slack = 0 if budget_tokens is None else int(budget_tokens * SLACK)
    kept: list[Item] = []
    trace: list[TraceEntry] = []
    full = False
    for rank, item in enumerate(items, start=1):
        tokens = count(item.text)
        placed, why, tokens_kept = "out", FULL, 0
        if full:
            pass  # out, as it stands
        elif tokens <= left:
            placed, why, tokens_kept = "in", "fits", tokens
            kept.append(item)
        elif packing == "whole":
            why = f"{counted(tokens, 'token')}, {int(left)} free"
        else:
            full = True
            text = truncate(item.text, int(left), slack)
            tokens_kept = count_tokens(text)
            why = f"{counted(tokens, 'token')}, {int(left)} free"
            if tokens_kept:
                placed = "cut"
                kept.append(replace(item, text=text))
        left -= tokens_kept
        trace.append(
            TraceEntry(
                item_id=item.id,
                rank=rank,
                tokens=tokens,
                tokens_kept=tokens_kept,
                placed=placed,
                why=why,
                signals=item.signals,
                source_ids=item.source_ids,
            )
        )
    used = sum(entry.tokens_kept for entry in trace)
    return MemoryView(
        items=tuple(kept), tokens=used, budget_tokens=budget_tokens, trace=tuple(trace)
    )
