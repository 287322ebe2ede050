"""Strata that are depths: cases tagged `depth=3`, and domains whose strata are d1, d2, ..."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["depth_of"]

_DEPTH: Final = re.compile(r"(?:depth=|stratum=d)(\d+)")


def depth_of(stratum: str) -> int | None:
    """The depth in hops that a stratum of summary.json stands for; None for any other stratum."""
    found = _DEPTH.fullmatch(stratum)
    return int(found[1]) if found else None
