"""How probable it is that one rate is above another, from counts of independent samples."""

from __future__ import annotations

from typing import Final

import numpy as np

PRIOR: Final = 0.5
"""Jeffreys': both parameters of the Beta."""


def beta_superiority(successes_a: int, n_a: int, successes_b: int, n_b: int) -> float:
    """Return P(rate of a > rate of b | counts) for independent samples, under Jeffreys' prior.

    Integrates b's distribution function over a's quantiles: P = mean of F_b(F_a^-1(u)).

    Args:
        successes_a: of n_a.
        n_a: trials of a, 0 or more.
        successes_b: of n_b.
        n_b: trials of b, 0 or more.

    Raises:
        ValueError: successes outside 0..n.
    """
    from scipy.special import betainc, betaincinv

    for successes, n in ((successes_a, n_a), (successes_b, n_b)):
        if not 0 <= successes <= n:
            raise ValueError(f"{successes} successes of {n}")
    nodes, weights = np.polynomial.legendre.leggauss(200)
    quantiles = betaincinv(successes_a + PRIOR, n_a - successes_a + PRIOR, (nodes + 1) / 2)
    below = betainc(successes_b + PRIOR, n_b - successes_b + PRIOR, quantiles)
    return float(np.sum(weights * below) / 2)
