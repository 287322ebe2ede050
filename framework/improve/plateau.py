"""When gains have ended: the least net flips that count, and how long to wait for them.

Regimes 8.2: seed 101 went on promoting coin flips after its gains had ended, because a difference
of nought passed the gate and nothing counted flips.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Plateau", "least_net_flips"]

_LEVEL = 1.645
"""One-sided 5% of the normal distribution."""


def least_net_flips(discordant: int, floor: int) -> int:
    """The least net flips that noise alone reaches in under 5% of looks, and at least `floor`.

    discordant : cases that differed between two measurements of the same stack. Each is a fair coin
        under no effect, so net flips have the standard deviation sqrt(discordant).
    """
    return max(floor, math.floor(_LEVEL * math.sqrt(discordant)) + 1 if discordant else floor)


@dataclass(slots=True, kw_only=True)
class Plateau:
    """Counts looks in a row without a gain of at least `least` net flips."""

    least: int
    patience: int | None
    barren: int = 0

    def enough(self, net: int) -> bool:
        """Whether so many net flips count as a gain."""
        return net >= self.least

    def look(self, net: int) -> None:
        """Take note of a look."""
        self.barren = 0 if self.enough(net) else self.barren + 1

    @property
    def reached(self) -> bool:
        """Whether the loop should stop."""
        return self.patience is not None and self.barren >= self.patience
