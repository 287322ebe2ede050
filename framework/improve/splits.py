"""Splitting cases into OPTIMIZE, CONFIRM and TEST: seeded, stratified, disjoint by construction."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from framework.records import Case

__all__ = ["Splits", "clusters_of", "largest_remainders", "split"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits(Generic[T]):
    """Three disjoint samples and what is left of the pool."""

    optimize: tuple[T, ...]
    confirm: tuple[T, ...]
    test: tuple[T, ...]
    rest: tuple[T, ...]


def split(
    pool: Sequence[T], strata: Sequence[Hashable], sizes: tuple[int, int, int], seed: int
) -> Splits[T]:
    """Deal the pool out stratum by stratum, in shares as equal as whole cases allow.

    Args:
        pool: the cases.
        strata: the stratum of each.
        sizes: of OPTIMIZE, CONFIRM and TEST.
        seed: decides who goes where, and nothing else.

    Raises:
        ValueError: the sizes sum to more than the pool has.
    """
    if sum(sizes) > len(pool):
        raise ValueError(f"{sum(sizes)} cases wanted, {len(pool)} there")
    left: dict[Hashable, list[int]] = {}
    for index, stratum in enumerate(strata):
        left.setdefault(stratum, []).append(index)
    generator = random.Random(f"split:{seed}")
    for members in left.values():
        generator.shuffle(members)
    parts: list[tuple[T, ...]] = []
    for size in sizes:
        quota = largest_remainders({s: len(members) for s, members in left.items()}, size)
        chosen = sorted(left[s].pop() for s, n in quota.items() for _ in range(n))
        parts.append(tuple(pool[i] for i in chosen))
    rest = tuple(pool[i] for i in sorted(i for members in left.values() for i in members))
    return Splits(optimize=parts[0], confirm=parts[1], test=parts[2], rest=rest)


def clusters_of(cases: Sequence[Case]) -> dict[str, str | None]:
    """By case, its cluster; None for a case that stands alone."""
    return {case.id: case.cluster or None for case in cases}


def largest_remainders(counts: Mapping[Hashable, int], size: int) -> dict[Hashable, int]:
    """`size` seats by the shares of `counts` (Hamilton's method), ties by the mapping's order.

    Raises ValueError where `size` is more than all counts.
    """
    total = sum(counts.values())
    if size > total:
        raise ValueError(f"{size} of {total}")
    if not total:
        return dict.fromkeys(counts, 0)
    # Whole numbers throughout: a float's last bit must not decide who goes where.
    seats = {key: n * size // total for key, n in counts.items()}
    order = sorted(counts, key=lambda key: -(counts[key] * size % total))
    for key in order[: size - sum(seats.values())]:
        seats[key] += 1
    return seats
