"""Axes by stratum of cases, and by depth where strata are depths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.records import Row

PREFIX: Final = "stratum="
"""Before the name of a stratum in a summary's `strata`, which has tags too."""
_NUMBER: Final = re.compile(r"(\d+)")


def by_stratum(
    axes: Sequence[str],
    overall: Mapping[str, Mapping[str, Any]],
    strata: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """By axis and stratum, the entry of a summary's `strata`, with the kind of the axis.

    Strata are ordered by the numbers in their names: d2 before d10.
    """
    names = sorted((n for n in strata if n.startswith(PREFIX)), key=natural)
    return {
        axis: {
            name.removeprefix(PREFIX): {**strata[name][axis], "kind": overall[axis]["kind"]}
            for name in names
            if axis in strata[name]
        }
        for axis in axes
        if axis in overall
    }


def depths_of_strata(rows: Sequence[Row]) -> dict[str, int]:
    """For every depth, the stratum or tag (`depth=3`) that holds its rows and no others.

    Of several the stratum. A depth that no one name stands for is left out.
    """
    found: dict[str, list[int | None]] = defaultdict(list)
    for row in rows:
        for name in (f"{PREFIX}{row.stratum}", *(f"{t}={value}" for t, value in row.tags.items())):
            found[name].append(row.depth)
    sizes = Counter(row.depth for row in rows)
    names: dict[int, str] = {}
    for name in sorted(found, key=lambda name: (not name.startswith(PREFIX), name)):
        depth = found[name][0]
        if depth is not None and found[name] == [depth] * sizes[depth]:
            names.setdefault(depth, name)
    return {name: depth for depth, name in sorted(names.items())}


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that orders names by the numbers in them: d2 before d10."""
    parts = _NUMBER.split(name)
    return tuple((int(p), "") if p.isdecimal() else (0, p) for p in parts)
