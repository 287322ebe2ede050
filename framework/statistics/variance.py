"""Where the spread of a result comes from: cases, and repeats of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from framework.statistics.intervals import as_values


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatVariance:
    """Variance between cases and between repeats of a case.

    Attributes:
        between_cases: variance of the cases' true means, 0 where the estimate is negative.
        between_repeats: variance of a repeat around its case's mean; ``None`` with one repeat a
            case.
        noise_sd: standard deviation of the arm's mean that comes from repeats alone: what it would
            move by, were the same cases asked again. ``None`` with one repeat a case.
        icc: share of a single repeat's variance that is between cases; ``None`` where undefined.
        n_cases: cases.
        n_repeats: values in all.
        method: of the estimate, or why there is none.
    """

    between_cases: float | None = None
    between_repeats: float | None = None
    noise_sd: float | None = None
    icc: float | None = None
    n_cases: int
    n_repeats: int
    method: str


def repeat_variance(repeats: Mapping[str, Sequence[float | None]]) -> RepeatVariance:
    """Estimate the variance components of one axis (one-way analysis of variance).

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
        reason = "one repeat a case" if k else "no cases"
        return RepeatVariance(n_cases=k, n_repeats=total, method=f"undefined: {reason}")
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    means = np.array([group.mean() for group in groups])
    within = float(sum(np.sum((g - g.mean()) ** 2) for g in groups)) / (total - k)
    noise = float(np.sum(within / sizes)) ** 0.5 / k
    found = RepeatVariance(
        between_repeats=within,
        noise_sd=noise,
        n_cases=k,
        n_repeats=total,
        method="one case: none between cases",
    )
    if k == 1:
        return found
    grand = float(np.average(means, weights=sizes))
    between_squares = float(np.sum(sizes * (means - grand) ** 2)) / (k - 1)
    typical = (total - float(np.sum(sizes**2)) / total) / (k - 1)
    raw = (between_squares - within) / typical
    between = max(raw, 0.0)
    method = "analysis of variance" + (", negative estimate set to 0" if raw < 0 else "")
    whole = between + within
    icc = between / whole if whole > 0 else None
    return replace(found, between_cases=between, icc=icc, method=method)
