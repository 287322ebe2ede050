"""Strata that are depths: cases tagged `depth=3`, and domains whose strata are d1, d2, ..."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from framework.records import Row

_DEPTH: Final = re.compile(r"(?:depth=|stratum=d)(\d+)")


def depth_of(stratum: str) -> int | None:
    """The depth in hops that a stratum of summary.json stands for; None for any other stratum."""
    found = _DEPTH.fullmatch(stratum)
    return int(found[1]) if found else None


def depths_of(rows: Iterable[Row]) -> dict[str, int]:
    """By case, its depth in hops; cases without one are left out."""
    found: dict[str, int] = {}
    for row in rows:
        for name in (f"stratum={row.stratum}", *(f"{t}={value}" for t, value in row.tags.items())):
            depth = depth_of(name)
            if depth is not None:
                found[row.case_id] = depth
    return found
