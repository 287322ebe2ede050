"""The days of a case's documents: drawn alike for all of them, so that order tells nothing of gold.

A document whose kind or day were bound to what it holds would give away, by its place alone, that
it matters. So every day is drawn evenly from one period, whatever the document. Where one document
has to be dated after another, the days of all that are so bound are drawn as the others are, and
then given out in an order that the bounds allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from random import Random
from typing import Final

PERIOD: Final = 42
"""Days after intake in which the documents of a case are dated: assumed."""


def sample_day(rng: Random) -> int:
    """Days from intake to the date of a document that is bound to no other."""
    return rng.randint(0, PERIOD)


def bound_days(after: Mapping[str, Set[str]], rng: Random) -> dict[str, int]:
    """Days, no two alike, for documents of which each is dated after those that it is mapped to.

    Raises ValueError when they are bound in a circle.
    """
    waiting = {name: set(others) for name, others in after.items()}
    for others in after.values():
        for other in sorted(others - waiting.keys()):
            waiting[other] = set()
    days = sorted(rng.sample(range(PERIOD + 1), len(waiting)))
    found: dict[str, int] = {}
    for day in days:
        free = sorted(name for name, others in waiting.items() if not others - found.keys())
        if not free:
            raise ValueError(f"documents bound in a circle: {', '.join(sorted(waiting))}")
        name = free[int(rng.random() * len(free))]
        found[name] = day
        del waiting[name]
    return found
