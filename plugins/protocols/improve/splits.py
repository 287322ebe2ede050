"""Splitting cases into OPTIMIZE, CONFIRM and TEST: seeded, stratified, disjoint by construction.

Cases of one cluster (a template, a corpus, pairs) are answered right or wrong together: where there
are such, whole clusters are dealt out, since what was fitted to one case would be confirmed on the
next one of its cluster.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from framework.records import Case
from framework.text.counting import counted

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits(Generic[T]):
    """Three disjoint samples, and what is left of the pool and of no cluster of OPTIMIZE."""

    optimize: tuple[T, ...]
    confirm: tuple[T, ...]
    test: tuple[T, ...]
    rest: tuple[T, ...]


def split(
    pool: Sequence[T],
    strata: Sequence[Hashable],
    sizes: tuple[int, int, int],
    seed: int,
    clusters: Sequence[str | None] | None = None,
) -> Splits[T]:
    """Deal the pool out stratum by stratum, in shares as equal as whole cases or clusters allow.

    Args:
        pool: the cases.
        strata: the stratum of each.
        sizes: of OPTIMIZE, CONFIRM and TEST.
        seed: decides who goes where, and nothing else.
        clusters: the cluster of each, None for a case that stands alone. No two splits share one.

    Raises:
        ValueError: the sizes sum to more than the pool has, or than whole clusters leave.
    """
    if sum(sizes) > len(pool):
        raise ValueError(f"{counted(sum(sizes), 'case')} wanted, {len(pool)} there")
    if clusters is not None and max(Counter(filter(None, clusters)).values(), default=1) > 1:
        return _whole_clusters(pool, strata, sizes, seed, clusters)
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


def _whole_clusters(
    pool: Sequence[T],
    strata: Sequence[Hashable],
    sizes: tuple[int, int, int],
    seed: int,
    clusters: Sequence[str | None],
) -> Splits[T]:
    """Large clusters first, each to the part that lacks most of what it holds.

    What a part has too many of is left out of it; what it lacks of one stratum it takes of others.
    """
    members: dict[Hashable, list[int]] = {}
    for index, cluster in enumerate(clusters):
        members.setdefault(cluster or index, []).append(index)
    generator = random.Random(f"split:{seed}")
    groups = list(members.values())
    for group in groups:
        generator.shuffle(group)
    generator.shuffle(groups)
    groups.sort(key=len, reverse=True)
    parts = [_Part(size, largest_remainders(Counter(strata), size)) for size in sizes]
    unused = []
    for group in groups:
        kinds = Counter(strata[i] for i in group)
        wanted = max(parts, key=lambda part: (part.wants(kinds), part.lacking / max(1, part.size)))
        if wanted.wants(kinds):
            wanted.take(group, kinds)
        else:
            unused.append(group)
    left = []
    for group in unused:
        wanted = max(parts, key=lambda part: part.lacking)
        if wanted.lacking > 0:
            wanted.take(group, Counter(strata[i] for i in group))
        else:
            left.extend(group)
    lacking = sum(max(0, part.lacking) for part in parts)
    if lacking:
        raise ValueError(
            f"{sum(sizes)} cases wanted in {len(sizes)} splits that share no cluster, {lacking} "
            f"more than {len(groups)} clusters of {len(pool)} cases give"
        )
    optimize, confirm, test = (part.dealt(strata) for part in parts)
    spare = [i for part, used in ((parts[1], confirm), (parts[2], test)) for i in part.cases
             if i not in used]  # fmt: skip
    return Splits(
        optimize=tuple(pool[i] for i in sorted(optimize)),
        confirm=tuple(pool[i] for i in sorted(confirm)),
        test=tuple(pool[i] for i in sorted(test)),
        rest=tuple(pool[i] for i in sorted([*left, *spare])),
    )


class _Part:
    """A split while whole clusters are dealt out: its cases, and what it lacks of each stratum."""

    def __init__(self, size: int, quota: Mapping[Hashable, int]) -> None:
        self.size = size
        self.cases: list[int] = []
        self._quota = quota
        self._left = Counter(quota)

    @property
    def lacking(self) -> int:
        """So many cases more are needed; below 0 for more than enough."""
        return self.size - len(self.cases)

    def wants(self, kinds: Mapping[Hashable, int]) -> int:
        """So many of the cases would fill what is lacking."""
        found = sum(min(n, max(0, self._left[kind])) for kind, n in kinds.items())
        return min(found, max(0, self.lacking))

    def take(self, group: Sequence[int], kinds: Mapping[Hashable, int]) -> None:
        """Take a whole cluster."""
        self.cases.extend(group)
        self._left.subtract(kinds)

    def dealt(self, strata: Sequence[Hashable]) -> frozenset[int]:
        """`size` of its cases, by the quota of each stratum as far as there are as many."""
        due = Counter(self._quota)
        chosen: list[int] = []
        others: list[int] = []
        for index in self.cases:
            (chosen if due[strata[index]] > 0 else others).append(index)
            due[strata[index]] -= 1
        return frozenset([*chosen, *others][: self.size])


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
