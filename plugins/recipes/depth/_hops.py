"""How recall falls with causal depth: similarity's ceiling, traversal, and where they cross.

Depth section 8. Throughout, depth d counts causal hops from 1, `s0` is the similarity of the first
hop in (0, 1], `rho` the similarity kept at each further hop in (0, 1], `q` the fidelity of an edge
in (0, 1]. They are fitted to measured recall, so agreement with that recall is no confirmation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plugins.recipes.depth.laws import law

_DRIFT = ("Assumption 3: hops independent", "Assumption 4: constant retention rho")
_EDGES = ("Assumption 5: edges independent, q constant",)


@law("Theorem 7, equation 7", "under-identified", unit="recall", assumes=_DRIFT)
def similarity_ceiling(d: float, s0: float, rho: float) -> float:
    """Recall of a similarity retriever at depth d, at best: s0^d rho^(d (d + 1) / 2)."""
    _check(d, s0=s0, rho=rho)
    return float(s0**d * rho ** (d * (d + 1) / 2))


@law("Theorem 7", "calibrated", unit="natural log of recall per hop", assumes=_DRIFT)
def similarity_slope(d: float, s0: float, rho: float) -> float:
    """Slope of log recall at depth d: log s0 + (d + 1/2) log rho. Its sign is the robust claim."""
    _check(d, s0=s0, rho=rho)
    return math.log(s0) + (d + 0.5) * math.log(rho)


@law("Theorem 9", "proven", unit="recall", assumes=_EDGES)
def traversal_recall(d: float, q: float) -> float:
    """Recall of following d typed edges, each right with probability q: q^d, whatever the size."""
    _check(d, q=q)
    return float(q**d)


@law("Equation 9", "calibrated", unit="recall", assumes=(*_DRIFT, *_EDGES))
def advantage(d: float, s0: float, rho: float, q: float) -> float:
    """How much more traversal recalls than similarity at depth d: q^d - s0^d rho^(d (d + 1) / 2).

    It rises and then falls as q^d: structure too loses at great depth.
    """
    return traversal_recall(d, q) - similarity_ceiling(d, s0, rho)


@law("Proposition 1", "calibrated", unit="hops", assumes=(*_DRIFT, *_EDGES))
def crossover_depths(
    margin: float, s0: float, rho: float, q: float, deepest: int = 64
) -> tuple[int, int] | None:
    """First and last whole depth where the advantage exceeds the margin; None where none does.

    With the margin free any crossover can be had, so a single depth is no prediction: report the
    advantage by depth beside it. The last is `deepest` where the advantage still exceeds it there.
    """
    found = [d for d in range(1, deepest + 1) if advantage(d, s0, rho, q) > margin]
    return (found[0], found[-1]) if found else None


@law("Section 8.6", "calibrated", unit="hops", assumes=(*_DRIFT, *_EDGES))
def peak_depth(s0: float, rho: float, q: float, deepest: int = 64) -> int:
    """The whole depth at which the advantage is greatest."""
    return max(range(1, deepest + 1), key=lambda d: (advantage(d, s0, rho, q), -d))


@law("Figure 11", "calibrated", unit="recall", assumes=(*_DRIFT, *_EDGES))
def phase_boundary(d: float, rhos: Sequence[float], s0: float, q: float) -> list[float]:
    """By retention rho, the margin at which depth d is the crossover: the advantage there."""
    return [advantage(d, s0, rho, q) for rho in rhos]


@law("Theorem 10", "proven", unit="retrieval operations", assumes=("Assumption 6", *_EDGES))
def traversal_work(d: int) -> int:
    """Operations that traversal spends to reach depth d: one dereference a hop."""
    _check(d)
    return d


@law("Theorem 10", "calibrated", unit="retrieval operations", assumes=("Assumption 6", *_DRIFT))
def similarity_hitting_time(d: float, s0: float, rho: float) -> float:
    """Expected operations of similarity to surface depth d, at least: 1 / its recall there.

    Infinite where the recall is too small to tell from 0.
    """
    recall = similarity_ceiling(d, s0, rho)
    return 1 / recall if recall > 0 else math.inf


def _check(d: float, **shares: float) -> None:
    if not d >= 1:
        raise ValueError(f"depth {d}: 1 or more expected")
    for name, share in shares.items():
        if not 0 < share <= 1:
            raise ValueError(f"{name} = {share}: above 0 and at most 1 expected")
