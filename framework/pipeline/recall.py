"""Reading in rounds: a reader asks again with what it has read, under one total budget.

Whatever was shown in any round stands in the one view that is recorded and answered from, so a
reader that searches never sees more tokens than one that does not.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from framework.pipeline.pack import pack
from framework.records import Item, MemoryView
from framework.text.tokens import count_tokens

_AGAIN: Final = "@round"
"""Between the id of an item and the number of the round that found another text under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a reader saw in all rounds together, and the queries that were asked, in order."""

    view: MemoryView
    queries: tuple[str, ...]


async def search(
    query: str,
    recall: Callable[[str], Awaitable[Sequence[Item]]],
    next_query: Callable[[MemoryView, Sequence[str]], Awaitable[str | None]],
    *,
    rounds: int,
    limit: int | None,
    packing: Literal["truncate", "whole"],
    count: Callable[[str], int] = count_tokens,
) -> Found:
    """Recall at most `rounds` times, the first time with `query`.

    After round r the reader has been shown whole items, best first, of at most r / `rounds` of
    `limit` tokens (None: no limit), but one new item at least where it fits. Then `next_query`,
    given the view and what was asked, says what to ask next, or that nothing is (None, empty, or
    asked before). What room is left then goes to the rest of the latest recall, then of the ones
    before. An item is shown once, however often it is recalled; its signal `round` is the recall
    that it came by.
    """
    if rounds == 1:
        return Found(view=pack(await recall(query), limit, packing, count), queries=(query,))
    seen: list[Item] = []
    rest: list[Item] = []
    asked = [query]
    used = 0
    for number in range(1, rounds + 1):
        found = _new(await recall(asked[-1]), number, seen)
        rest = found + _new(rest, None, found)
        if number == rounds:
            break
        share = math.inf if limit is None else limit * number // rounds
        whole = math.inf if limit is None else limit
        taken = 0
        for item in found:
            tokens = count(item.text)
            if used + tokens > (share if taken else whole):
                break
            seen.append(item)
            used += tokens
            taken += 1
        rest = rest[taken:]
        wanted = await next_query(pack(seen, limit, packing, count), tuple(asked))
        if not wanted or wanted in asked:
            break
        asked.append(wanted)
    return Found(view=pack([*seen, *rest], limit, packing, count), queries=tuple(asked))


def _new(items: Sequence[Item], number: int | None, known: Sequence[Item]) -> list[Item]:
    """The items that are not known by id and text, marked with the round, if one is given.

    One whose id is known with another text gets a name of its own.
    """
    texts: dict[str, set[str]] = {}
    for item in known:
        texts.setdefault(item.id.partition(_AGAIN)[0], set()).add(item.text)
    new = [item for item in items if item.text not in texts.get(item.id.partition(_AGAIN)[0], ())]
    if number is None:
        return new
    return [
        replace(
            item,
            id=f"{item.id}{_AGAIN}{number}" if item.id in texts else item.id,
            signals={**item.signals, "round": number},
        )
        for item in new
    ]
