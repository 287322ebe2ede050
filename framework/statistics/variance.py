"""How much of a result's spread comes from repeats of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from framework.statistics.intervals import as_values


def noise_sd(repeats: Mapping[str, Sequence[float | None]]) -> float | None:
    """The standard deviation of an arm's mean that comes from repeats alone.

    What it would move by, were the same cases asked again: by the variance of a repeat around its
    case's mean (one-way analysis of variance). None with one repeat a case.
    Source: Searle, Casella and McCulloch, Variance Components (1992), section 3.6.

    Args:
        repeats: case id -> the values of its repeats; ``None`` where undefined: not counted.

    Raises:
        ValueError: an infinite value.
    """
    groups = [as_values(values) for values in repeats.values()]
    groups = [group[~np.isnan(group)] for group in groups]
    groups = [group for group in groups if len(group)]
    k, total = len(groups), sum(len(group) for group in groups)
    if total == k:
        return None
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    within = float(sum(np.sum((g - g.mean()) ** 2) for g in groups)) / (total - k)
    noise: float = float(np.sum(within / sizes)) ** 0.5 / k
    return noise
