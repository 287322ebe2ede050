"""The noisy reader: statements missed or misread at given rates, the same text always alike."""

from __future__ import annotations

import hashlib
from typing import Final

from framework.contracts import Profile

_ALL: Final = 2.0**64


def noise_on(statement: str, profile: Profile) -> str:
    """What a noisy profile does to a statement: `miss`, `confuse` or nothing (empty)."""
    if profile.style != "noisy":
        return ""
    key = f"{profile.seed}\0{statement}".encode()
    share = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") / _ALL
    if share < profile.miss_rate:
        return "miss"
    return "confuse" if share < profile.miss_rate + profile.confuse_rate else ""


def is_missed(statement: str, profile: Profile) -> bool:
    """Whether a noisy profile overlooks a statement."""
    return noise_on(statement, profile) == "miss"
