"""State from events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from framework.store.event import JournalEvent

__all__ = ["fold"]

State = TypeVar("State")


def fold(
    events: Iterable[JournalEvent],
    reducers: Mapping[str, Callable[[State, JournalEvent], State]],
    initial: State,
) -> State:
    """Return the state after `events`: from `initial`, each goes through the reducer of its type.

    Types without a reducer leave the state as it is. Pure as long as the reducers are: one that
    changes the state it is given changes `initial` too.
    """
    state = initial
    for event in events:
        reduce = reducers.get(event.type)
        if reduce is not None:
            state = reduce(state, event)
    return state
