"""A share of a domain's nominal length, as whole tokens."""

from __future__ import annotations

import math

from framework.errors import UserError

MAX_RATIO = 10.0
"""Largest ratio: ten histories' worth of tokens holds every history and flags a slip of the comma."""


def check_ratio(name: str, ratio: float) -> None:
    """Raise ValueError unless `ratio` is in (0, 10]."""
    if not 0.0 < ratio <= MAX_RATIO:
        raise ValueError(f"{name} must be above 0 and at most 10, {ratio} given")


def share(ratio: float, nominal_tokens: int, domain: str) -> int:
    """`ratio` of `nominal_tokens`, rounded down to whole tokens.

    Raises UserError when that is less than one token.
    """
    # 0.07 * 100 is 7.000000000000001 and 0.29 * 100 is 28.999999999999996: both mean what is written.
    tokens = math.floor(round(ratio * nominal_tokens, 6))
    if tokens < 1:
        raise UserError(
            f"budget: {ratio} of the {nominal_tokens} tokens of domain={domain} is less than one token"
        )
    return tokens
