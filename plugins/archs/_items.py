"""Events as items, and text as pieces of a bounded length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from framework.records import Event, Item
from framework.text.tokens import count_tokens, truncate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def event_item(event: Event, signals: Mapping[str, float]) -> Item:
    """The whole event as an item of the same id."""
    return Item(id=event.id, text=event.text, signals=signals, source_ids=(event.id,))


def recency(position: int, total: int) -> float:
    """Order of arrival as a signal: `position` counts from 0, the last of `total` gets 1.0."""
    return (position + 1) / total


def ranked_items(
    events: Sequence[Event],
    order: NDArray[np.int64],
    signals: Mapping[str, NDArray[Any]],
) -> list[Item]:
    """The events at the places `order`, best first, as items with their rank and recency.

    signals : by name, a value for each of these places.
    """
    n = len(events)
    names, columns = list(signals), [values.tolist() for values in signals.values()]
    items = []
    for rank, i in enumerate(order.tolist(), start=1):
        own = {name: column[rank - 1] for name, column in zip(names, columns, strict=True)}
        items.append(event_item(events[i], {**own, "rank": rank, "recency": recency(i, n)}))
    return items


def pieces(text: str, limit: int) -> Iterator[str]:
    """`text` in order, in pieces of at most `limit` tokens, cut at sentences where there are any.

    Only a single word of more than `limit` tokens makes a longer piece. White space at the cuts is
    dropped.
    """
    rest = text.strip()
    while count_tokens(rest) > limit:
        piece = truncate(rest, limit, slack=limit - 1) or rest.split(maxsplit=1)[0]
        yield piece
        rest = rest[len(piece) :].lstrip()
    if rest:
        yield rest
