"""Whether stated confidence is true: reliability by bins, expected calibration error, Brier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import (
    RESAMPLES,
    bootstrap_means,
    percentile_limits,
    unit_values,
)
from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.intervals import as_values, is_binary, wilson
from framework.statistics.seeding import generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers whose confidence lies in (low, high], the first bin including 0.

    `accuracy_low` and `accuracy_high` are Wilson's limits, clusters ignored.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """What a reliability diagram draws.

    Attributes:
        bins: those that hold an answer.
        ece: expected calibration error, sum of n_b / n |accuracy - confidence|; ``None`` without
            answers. It is biased upwards: a perfectly calibrated model scores above 0.
        ece_low: 95% percentile limit, ``None`` where none is claimed; it shares the bias.
        ece_high: the other.
        ece_by_chance: mean ECE of models that are calibrated and as confident as this one: what
            `ece` is to be read against.
        brier: mean squared error of the confidence.
        n: answers with a confidence.
        n_undefined: answers without one.
        method: of the limits, or why there are none.
    """

    bins: tuple[Bin, ...] = ()
    ece: float | None = None
    ece_low: float | None = None
    ece_high: float | None = None
    ece_by_chance: float | None = None
    brier: float | None = None
    n: int
    n_undefined: int
    method: str


def reliability(
    confidence: npt.ArrayLike | Sequence[float | None],
    correct: npt.ArrayLike,
    clusters: Sequence[str | None] | None = None,
    *,
    seed: int,
    bins: int = 10,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Reliability:
    """Compare confidence with accuracy in bins of equal width (Depth, section 7; Guo et al. 2017).

    Args:
        confidence: n values in [0, 1]; NaN or ``None`` where none was stated.
        correct: n values, 0 or 1.
        clusters: n labels, ``None`` for a case that stands alone.
        seed: of the resampling.
        bins: of equal width.
        resamples: of the bootstrap.
        level: coverage.

    Raises:
        ValueError: different lengths, confidence outside [0, 1], correctness that is not 0 or 1, or
            no bin.
    """
    stated, right = as_values(confidence), as_values(correct)
    if len(stated) != len(right) or bins < 1:
        raise ValueError(f"{len(stated)} confidences, {len(right)} answers, {bins} bins")
    kept = ~np.isnan(stated)
    labels = None if clusters is None else [c for c, k in zip(clusters, kept, strict=True) if k]
    stated, right = stated[kept], right[kept]
    undefined = int(np.count_nonzero(~kept))
    if not is_binary(right):
        raise ValueError("correctness is 0 or 1")
    if len(stated) and not (stated.min() >= 0 and stated.max() <= 1):
        raise ValueError("a confidence is outside [0, 1]")
    n = len(stated)
    if n == 0:
        reason = "undefined: no answer states a confidence"
        return Reliability(n=0, n_undefined=undefined, method=reason)
    member = np.clip(np.ceil(stated * bins).astype(int) - 1, 0, bins - 1)
    held = [int(b) for b in np.unique(member)]
    gaps = [np.where(member == b, right - stated, 0.0) for b in held]
    units = [unit_values(gap, labels)[0] for gap in gaps]
    # In order, so that the order of cases moves nothing.
    order = np.lexsort(units)
    units = [u[order] for u in units]
    size = len(units[0])
    low = high = None
    method = f"no interval: {size} units, fewer than {MIN_UNITS}"
    if size >= MIN_UNITS:
        rng = generator(seed, "reliability", str(size))
        drawn = np.sum(np.abs(np.stack(bootstrap_means(units, rng, resamples))), axis=0)
        low, high = percentile_limits(drawn, level)
        method = "percentile bootstrap (biased upwards)"
    return Reliability(
        bins=tuple(_bin(b, bins, stated[member == b], right[member == b], level) for b in held),
        ece=float(sum(abs(u.mean()) for u in units)),
        ece_low=low,
        ece_high=high,
        ece_by_chance=_by_chance(stated, member, seed),
        brier=float(np.mean((stated - right) ** 2)),
        n=n,
        n_undefined=undefined,
        method=method,
    )


def _by_chance(stated: FloatArray, member: npt.NDArray[np.intp], seed: int) -> float:
    rng = generator(seed, "calibrated", str(len(stated)))
    ordered = np.argsort(stated, kind="stable")
    stated, member = stated[ordered], member[ordered]
    total = 0.0
    draws = 200
    for _ in range(draws):
        gaps = (rng.random(len(stated)) < stated) - stated
        total += float(np.sum(np.abs(np.bincount(member, weights=gaps)))) / len(stated)
    return total / draws


def _bin(b: int, bins: int, stated: FloatArray, right: FloatArray, level: float) -> Bin:
    low, high = wilson(int(right.sum()), len(right), level)
    return Bin(
        low=b / bins,
        high=(b + 1) / bins,
        n=len(right),
        confidence=float(stated.mean()),
        accuracy=float(right.mean()),
        accuracy_low=low,
        accuracy_high=high,
    )
