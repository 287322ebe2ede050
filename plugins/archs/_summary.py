"""A running summary: events folded in, some at a time, under a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framework.contracts import ArchContext, Client
from framework.operations.summarize import Summarize, SummarizeRequest
from framework.records import Item
from framework.text.tokens import count_tokens, truncate


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What became of the events, and how often the model's answer was over the limit and cut."""

    text: str = ""
    calls: int = 0
    cut: int = 0


def limit_of(context: ArchContext) -> int:
    """The budget of an arm that uses it. Raises ValueError when it was opened without one."""
    if context.budget_tokens is None:
        raise ValueError("this arch uses its budget and cannot be opened without one")
    return context.budget_tokens


async def summarize(client: Client, texts: Sequence[str], limit: int, chunk_events: int) -> Summary:
    """Fold `texts` into one summary of at most `limit` tokens, `chunk_events` a call, in order.

    A model that answers with more than the limit is cut to it, so that no call starts from more
    than the budget allows.
    """
    summary = Summary()
    for start in range(0, len(texts), chunk_events):
        summary = await folded(client, summary, texts[start : start + chunk_events], limit)
    return summary


async def folded(client: Client, summary: Summary, texts: Sequence[str], limit: int) -> Summary:
    """The summary after one more call that folds `texts` in, cut to `limit` where it is longer."""
    request = SummarizeRequest(summary=summary.text, chunks=tuple(texts), limit_tokens=limit)
    text = (await client.ask(Summarize(), request)).summary
    over = count_tokens(text) > limit
    return Summary(
        text=truncate(text, limit) if over else text,
        calls=summary.calls + 1,
        cut=summary.cut + over,
    )


def summary_items(summary: Summary) -> list[Item]:
    """The summary as an item, or nothing when it is empty.

    It names no sources: which events a summary keeps is not recorded by the model, and retrieval
    axes count what is shown verbatim.
    """
    if not summary.text.strip():
        return []
    return [Item(id="summary", text=summary.text, signals={"rank": 1})]
