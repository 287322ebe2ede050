"""What it costs to spread a decision over sigma fragments (Depth sections 3.1 and 9)."""

from __future__ import annotations

import math

from plugins.recipes.depth.laws import law


@law(
    "Theorem 11, equation 10",
    "proven",
    unit="probability",
    assumes=("fragments surface independently",),
)
def assembly(sigma: float, p: float) -> float:
    """Probability that all sigma fragments surface, each with probability p: p^sigma.

    A lower bound where fragments stand together and so surface together.
    """
    _check(sigma, p)
    return float(p**sigma)


@law("Theorem 6", "proven", unit="bits")
def location_bits(sigma: int, items: int) -> float:
    """Bits that locate sigma fragments among the items: log2 of the number of choices.

    At least `paper_location_bits`, the bound that the paper states.
    """
    if not 1 <= sigma <= items:
        raise ValueError(f"{sigma} fragments of {items} items: 1 to all of them expected")
    ways = math.lgamma(items + 1) - math.lgamma(sigma + 1) - math.lgamma(items - sigma + 1)
    return ways / math.log(2)


@law("Theorem 6", "proven", unit="bits")
def paper_location_bits(sigma: int, items: int) -> float:
    """Bits that locate sigma fragments among the items, at least: sigma log2(items / sigma)."""
    if not 1 <= sigma <= items:
        raise ValueError(f"{sigma} fragments of {items} items: 1 to all of them expected")
    return sigma * math.log2(items / sigma)


@law("Theorem 6", "proven", unit="probes", assumes=("fragments surface independently",))
def probes(sigma: float, p: float) -> float:
    """Expected probes to gather all fragments, at least: sigma / p."""
    _check(sigma, p)
    return sigma / p


@law(
    "Section 9.1",
    "calibrated",
    unit="probability",
    assumes=("depth and scatter independent", "fragments surface independently"),
)
def recall_after_both(d: float, sigma: float, q: float, p: float) -> float:
    """Recall of a decision d hops away in sigma fragments: q^d p^sigma."""
    if not d >= 1 or not 0 < q <= 1:
        raise ValueError("a depth of 1 or more and 0 < q <= 1 expected")
    return float(q**d) * assembly(sigma, p)


def _check(sigma: float, p: float) -> None:
    if not sigma >= 1 or not 0 < p <= 1:
        raise ValueError(f"sigma = {sigma}, p = {p}: sigma of 1 or more and 0 < p <= 1 expected")
