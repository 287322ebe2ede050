"""The sign-flip permutation test of a paired mean difference: the primary test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import LARGE, RESAMPLES
from framework.statistics.clusters import FloatArray
from framework.statistics.proportions import mcnemar_p

EXACT_UP_TO = 20
"""Up to this many nonzero differences all sign patterns are counted."""

_BATCH_ENTRIES = 1 << 18
_DRAWS_A_COUNT = 16  # drawing one count costs about as much as drawing so many signs


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """A two-sided p-value.

    Attributes:
        p: the share of sign patterns whose mean is at least as far from 0; 1 when nothing differs,
            ``None`` without units.
        smallest_p: what this test could reach at best with as many units, were all of them to
            differ in one direction: 2^(1-n) exact, 1/(draws+1) by Monte Carlo if that is larger.
        method: "exact", "monte carlo (N draws)" or "undefined: no cases".
    """

    p: float | None
    smallest_p: float | None
    method: str


def sign_flip_test(
    differences: FloatArray, rng: np.random.Generator, draws: int = RESAMPLES
) -> PermutationTest:
    """Test that the differences are symmetric about 0, by flipping their signs.

    Zero differences change no sum, so they are left out before counting. Exact where at most 20
    differences remain (all 2^n sums, built by doubling) or where all have one magnitude (then the
    sum is a count, and the test is McNemar's exact test); otherwise Monte Carlo with the +1
    correction, p = (1 + hits) / (1 + draws), which never claims less than was drawn (Phipson and
    Smyth 2010). Sums equal within rounding count as equal.

    Args:
        differences: shape (n,), one a unit (case or cluster).
        rng: the generator; used only by Monte Carlo.
        draws: of Monte Carlo.
    """
    n = len(differences)
    if n == 0:
        return PermutationTest(p=None, smallest_p=None, method="undefined: no cases")
    exact_floor = 2.0 ** (1 - n)
    nonzero = differences[differences != 0]
    sizes = np.abs(nonzero)
    if len(nonzero) <= EXACT_UP_TO:
        return PermutationTest(p=_by_doubling(nonzero), smallest_p=exact_floor, method="exact")
    if np.ptp(sizes) <= 1e-12 * sizes[0]:
        wins = int(np.count_nonzero(nonzero > 0))
        p = mcnemar_p(wins, len(nonzero) - wins)
        return PermutationTest(p=p, smallest_p=exact_floor, method="exact")
    return PermutationTest(
        p=_by_monte_carlo(nonzero, rng, draws),
        smallest_p=max(exact_floor, 1 / (draws + 1)),
        method=f"monte carlo ({draws} draws)",
    )


def _by_doubling(nonzero: FloatArray) -> float:
    if len(nonzero) == 0:
        return 1.0
    # |sum| is the same for a pattern and its mirror: the first sign can stay.
    sums = nonzero[:1]
    for value in nonzero[1:]:
        sums = np.concatenate((sums + value, sums - value))
    return float(np.mean(np.abs(sums) >= _threshold(nonzero)))


def _by_monte_carlo(nonzero: FloatArray, rng: np.random.Generator, draws: int) -> float:
    n = len(nonzero)
    total, threshold = nonzero.sum(), _threshold(nonzero)
    if n >= LARGE:
        sizes, counts = np.unique(np.abs(nonzero), return_counts=True)
        if len(sizes) * _DRAWS_A_COUNT <= n:
            return _by_counts(sizes, counts, threshold, rng, draws)
    batch = max(8, _BATCH_ENTRIES // n)
    hits = 0
    for start in range(0, draws, batch):
        size = min(batch, draws - start)
        packed = rng.integers(0, 256, size=(size, (n + 7) // 8), dtype=np.uint8)
        flipped = np.unpackbits(packed, axis=1, count=n).astype(np.float64)
        hits += int(np.count_nonzero(np.abs(total - 2 * (flipped @ nonzero)) >= threshold))
    return (1 + hits) / (1 + draws)


def _by_counts(
    sizes: FloatArray,
    counts: npt.NDArray[np.intp],
    threshold: float,
    rng: np.random.Generator,
    draws: int,
) -> float:
    """Draw how many of each size are positive, not each sign: the same distribution."""
    batch = max(8, _BATCH_ENTRIES // len(sizes))
    hits = 0
    for start in range(0, draws, batch):
        size = min(batch, draws - start)
        positive = rng.binomial(counts, 0.5, size=(size, len(counts)))
        hits += int(np.count_nonzero(np.abs((2 * positive - counts) @ sizes) >= threshold))
    return (1 + hits) / (1 + draws)


def _threshold(nonzero: FloatArray) -> float:
    return float(np.abs(nonzero.sum()) - 1e-12 * np.abs(nonzero).sum())
