"""`part=shard:3/8`: the third of eight shards of a run's cases, whole histories each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from framework.contracts import Part
from framework.errors import UserError
from framework.records import Case
from framework.registry import register

SHARD: Final = "shard"
_GIVEN: Final = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@register("part", "shard")
class Shard(Part):
    """Every N-th history with all its cases: history 1 goes to shard 1, 2 to 2, and so on."""

    def __init__(self, given: str = "") -> None:
        found = _GIVEN.fullmatch(given)
        if found is None or not int(found[1]) <= int(found[2]):
            raise UserError(f"part={SHARD}:{given}: number/total expected, as {SHARD}:3/8")
        self.number, self.of_shards = int(found[1]), int(found[2])

    def of(self, cases: Iterable[Case], seed: int) -> Iterator[Case]:
        for case, number in dealt(cases, self.of_shards):
            if number == self.number:
                yield case

    def about(self, n_cases: int) -> int:
        return -(-n_cases // self.of_shards)


def dealt(cases: Iterable[Case], shards: int) -> Iterator[tuple[Case, int]]:
    """Each case with the number of its shard, from 1: histories are dealt as they first come."""
    known: dict[str, int] = {}
    for case in cases:
        yield case, known.setdefault(case.history_id, len(known) % shards + 1)
