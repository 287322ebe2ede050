"""What the simulated coverage is measured on: samples whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Rng = np.random.Generator
Values = npt.NDArray[np.float64]
Pairs = tuple[Values, Values]
Clustered = tuple[Values, list[str | None]]


def by_case(values: Values) -> dict[str, float | None]:
    return {f"c{i:04}": float(v) for i, v in enumerate(values)}


def binary(p: float) -> Callable[[Rng, int], Values]:
    return lambda rng, n: (rng.random(n) < p).astype(np.float64)


def graded(rng: Rng, n: int) -> Values:
    """Shares of six items, cases of unequal difficulty; mean .6."""
    return rng.binomial(6, rng.beta(3, 2, n)) / 6


def rare(rng: Rng, n: int) -> Values:
    """Amounts that are mostly 0, the rest skewed; mean .1."""
    return (rng.random(n) < 0.2) * rng.exponential(0.5, n)


def paired(rng: Rng, n: int) -> Clustered:
    """Twins that share their difficulty; mean .6."""
    chance = np.repeat(rng.beta(3, 2, n // 2), 2)
    return (rng.random(n) < chance).astype(np.float64), [f"k{i // 2}" for i in range(n)]


def sizes_to(rng: Rng, n: int, most: int) -> list[int]:
    sizes = rng.integers(1, most + 1, n)
    return [int(i) for i in np.repeat(np.arange(n), sizes)[:n]]


def unequal(a: float, b: float) -> Callable[[Rng, int], Clustered]:
    """Clusters of 1 to 5 cases that share their difficulty, whatever their size: a / (a + b)."""

    def draw(rng: Rng, n: int) -> Clustered:
        labels = sizes_to(rng, n, 5)
        chance = rng.beta(a, b, n)[labels]
        return (rng.random(n) < chance).astype(np.float64), [f"k{label}" for label in labels]

    return draw


def one_large(rng: Rng, n: int) -> Clustered:
    """All but 15 cases in one cluster, as nearly as n allows; mean .6."""
    labels = [max(0, i - n + 16) if n > 16 else i // 2 for i in range(n)]
    chance = rng.beta(3, 2, n)[labels]
    return (rng.random(n) < chance).astype(np.float64), [f"k{label}" for label in labels]


def mostly_one(rng: Rng, n: int) -> Values:
    """Shares of six that one case in fifty misses in part; mean .99."""
    return np.where(rng.random(n) < 0.02, rng.binomial(6, 0.5, n) / 6, 1.0)


def clustered_pairs(skewed: bool) -> Callable[[Rng, int], tuple[Values, list[int]]]:
    """Differences of clusters of four, mean 0: symmetric, or one cluster in eight loses .7."""

    def draw(rng: Rng, n: int) -> tuple[Values, list[int]]:
        labels = [i // 4 for i in range(n)]
        if not skewed:
            shared = rng.normal(0, 0.15, n)[labels]
            return np.clip(shared + rng.normal(0, 0.3, n), -1, 1), labels
        bad = (rng.random(n) < 0.125)[labels]
        return np.where(bad, -1.0 * (rng.random(n) < 0.7), 1.0 * (rng.random(n) < 0.1)), labels

    return draw


def skewed_alone(rng: Rng, n: int) -> Values:
    """Graded differences of cases: one in 25 loses what the others gain."""
    return np.where(rng.random(n) < 0.04, -0.96, 0.04) * rng.uniform(0.9, 1.0, n)


def binary_pairs(win: float, loss: float) -> Callable[[Rng, int], Pairs]:
    def draw(rng: Rng, n: int) -> Pairs:
        u = rng.random(n)
        both = rng.random(n) < 0.6
        a = np.where(u < win, 1.0, np.where(u < win + loss, 0.0, both))
        b = np.where(u < win, 0.0, np.where(u < win + loss, 1.0, both))
        return a, b

    return draw


def graded_pairs(lift: float) -> Callable[[Rng, int], Pairs]:
    """Shares of six items on the same cases; the difference is .4 lift."""

    def draw(rng: Rng, n: int) -> Pairs:
        q = rng.beta(3, 2, n)
        return rng.binomial(6, q + lift * (1 - q)) / 6, rng.binomial(6, q) / 6

    return draw
