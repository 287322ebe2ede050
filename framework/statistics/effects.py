"""Effect sizes."""

from __future__ import annotations

import math

__all__ = ["cohens_h"]


def cohens_h(p_a: float, p_b: float) -> float:
    """Return Cohen's h = 2 asin sqrt(p_a) - 2 asin sqrt(p_b), in radians.

    Positive when a is higher. About .2 is small, .5 medium, .8 large (Cohen 1988, section 6.2).

    Raises:
        ValueError: a proportion outside [0, 1].
    """
    if not (0 <= p_a <= 1 and 0 <= p_b <= 1):
        raise ValueError(f"proportions {p_a} and {p_b}: not in [0, 1]")
    return 2 * (math.asin(math.sqrt(p_a)) - math.asin(math.sqrt(p_b)))
