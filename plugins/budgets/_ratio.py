"""A share of a domain's nominal length, as whole tokens."""

from __future__ import annotations

import math
from typing import Final

from framework.bounds import above
from framework.errors import UserError

RATIO: Final = above(0, most=10)
"""Of a ratio: ten times the nominal length holds every history; more is a slip of the comma."""


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
