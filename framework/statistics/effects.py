"""Effect sizes."""

from __future__ import annotations

import math
from typing import Literal


def cohens_h(p_a: float, p_b: float) -> float:
    """Return Cohen's h = 2 asin sqrt(p_a) - 2 asin sqrt(p_b), in radians.

    Positive when a is higher. About .2 is small, .5 medium, .8 large (Cohen 1988, section 6.2).

    Raises:
        ValueError: a proportion outside [0, 1].
    """
    if not (0 <= p_a <= 1 and 0 <= p_b <= 1):
        raise ValueError(f"proportions {p_a} and {p_b}: not in [0, 1]")
    return 2 * (math.asin(math.sqrt(p_a)) - math.asin(math.sqrt(p_b)))


Verdict = Literal[
    "more than the smallest effect",
    "less than the smallest effect",
    "equivalent",
    "more",
    "less",
    "undecided",
    "no bounds",
]


def against_smallest_effect(
    low: float | None, high: float | None, smallest_effect: float | None
) -> Verdict:
    """Conclude from the decision bounds of a difference, whatever its p-value is.

    "more than the smallest effect": all that the bounds hold is above it, "less than" below minus
    it; "equivalent": all of it within; "more" and "less": on one side of 0, its size undecided;
    else "undecided". Without a declared effect only the sign is concluded on.
    Source: Lakens, Scheel and Isager (2018), equivalence testing; validity.md section 4.

    Args:
        low: lower decision bound, ``None`` where none is claimed.
        high: the other.
        smallest_effect: declared beforehand, above 0; ``None`` where none was.

    Raises:
        ValueError: an effect that is not above 0.
    """
    if smallest_effect is not None and not smallest_effect > 0:
        raise ValueError(f"smallest effect {smallest_effect}: above 0 expected")
    if low is None or high is None:
        return "no bounds"
    if smallest_effect is not None:
        if low > smallest_effect:
            return "more than the smallest effect"
        if high < -smallest_effect:
            return "less than the smallest effect"
        if -smallest_effect < low and high < smallest_effect:
            return "equivalent"
    if low > 0:
        return "more"
    return "less" if high < 0 else "undecided"
