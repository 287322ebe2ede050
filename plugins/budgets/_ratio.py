"""A share of a domain's nominal length, as whole tokens."""

from __future__ import annotations

import math

from framework.errors import UserError

MAX_RATIO = 10.0
"""Largest ratio: ten times the nominal length holds every history; more is a slip of the comma."""


def check_ratio(name: str, ratio: float) -> None:
    """Raise ValueError unless `ratio` is in (0, 10]."""
    if not 0.0 < ratio <= MAX_RATIO:
        raise ValueError(f"{name} must be above 0 and at most 10, {ratio} given")


def share(ratio: float, nominal_tokens: int, domain: str) -> int:
    """`ratio` of `nominal_tokens`, rounded down to whole tokens.

    Raises UserError when that is less than one token.
    """
    # 0.29 * 100 is 28.999999999999996 in floats, and 29 is meant.
    tokens = math.floor(round(ratio * nominal_tokens, 6))
    if tokens < 1:
        raise UserError(
            f"budget: {ratio} of {nominal_tokens} tokens (domain={domain}) is less than one token"
        )
    return tokens
