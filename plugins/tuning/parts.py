"""`part=tuning` and `part=comparison`: two halves of the cases that have nothing in common."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from framework.contracts import Part
from framework.errors import UserError
from framework.records import Case
from framework.registry import register
from framework.text.counting import counted

TUNING: Final = "tuning"
COMPARISON: Final = "comparison"


class _Half(Part):
    def about(self, n_cases: int) -> int:
        return n_cases // 2


@register("part", "tuning")
class Tuning(_Half):
    """The cases on which settings are chosen: half of all cases."""

    def of(self, cases: Iterable[Case], seed: int) -> Sequence[Case]:
        return halves([*cases], seed)[0]


@register("part", "comparison")
class Comparison(_Half):
    """The cases on which arms are compared: the half not used to choose settings."""

    def of(self, cases: Iterable[Case], seed: int) -> Sequence[Case]:
        return halves([*cases], seed)[1]


def halves(cases: Sequence[Case], seed: int) -> tuple[list[Case], list[Case]]:
    """The cases for tuning and those for the comparison, each in their order.

    What belongs together (`units`) stays together. Large units are dealt out first, each to the
    half that has fewer cases of its first case's stratum, then fewer cases. Raises UserError where
    all cases belong together.
    """
    whole = units(cases)
    if len(whole) < 2:
        raise UserError(
            f"part: {counted(len(cases), 'case')} in one history or cluster, which can't be divided"
        )
    random.Random(f"halves:{seed}").shuffle(whole)
    dealt: tuple[set[int], set[int]] = (set(), set())
    strata: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for unit in sorted(whole, key=len, reverse=True):
        kind = cases[unit[0]].stratum
        half = min((0, 1), key=lambda i: (strata[i][kind], len(dealt[i])))
        dealt[half].update(unit)
        strata[half].update(cases[index].stratum for index in unit)
    tuning, comparison = ([cases[index] for index in sorted(half)] for half in dealt)
    return tuning, comparison


def units(cases: Sequence[Case]) -> list[list[int]]:
    """The indexes of cases that belong together: they share a history or a cluster, step by step.

    Where all cases are asked of one history, a shared cluster alone counts.
    """
    one_history = len({case.history_id for case in cases}) == 1
    parent = list(range(len(cases)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = index = parent[parent[index]]
        return index

    first: dict[tuple[str, str], int] = {}
    for index, case in enumerate(cases):
        keys = [] if one_history else [("history", case.history_id)]
        keys += [("cluster", case.cluster)] if case.cluster else []
        for key in keys:
            parent[root(index)] = root(first.setdefault(key, index))
    found: dict[int, list[int]] = {}
    for index in range(len(cases)):
        found.setdefault(root(index), []).append(index)
    return list(found.values())
