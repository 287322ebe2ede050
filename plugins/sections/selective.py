"""Abstention as a score, not a point: risk over coverage, its area, and a conformal threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.intervals import as_values
from framework.statistics.seeding import generator


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage:
    """Risk among the answers committed to, as the confidence asked for falls.

    Attributes:
        threshold: shape (points,), falling: commit at this confidence or above.
        coverage: shape (points,), the share committed to.
        risk: shape (points,), the mean loss among them.
        aurc: area under the curve: the mean risk over all n coverages, ties taken in random order.
        aurc_optimal: what perfect ordering of the same losses gives.
        aurc_random: what no ordering gives: the mean loss.
        n: answers.
    """

    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray
    aurc: float
    aurc_optimal: float
    aurc_random: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstentionThreshold:
    """Where to abstain so that wrong commitments stay rare.

    Attributes:
        threshold: commit at this confidence or above; infinity: always abstain.
        alpha: the chance of committing to a wrong decision that is kept, on average over
            calibration sets, on cases exchangeable with the calibration cases.
        coverage: share of the calibration cases committed to.
        n: calibration cases, or clusters of them.
        method: of the threshold, or why it is infinite.
    """

    threshold: float
    alpha: float
    coverage: float
    n: int
    method: str


def risk_coverage(
    confidence: npt.ArrayLike | Sequence[float | None], loss: npt.ArrayLike
) -> RiskCoverage:
    """Trace risk against coverage (El-Yaniv and Wiener 2010; AURC: Geifman et al. 2019).

    Args:
        confidence: n values, higher is surer; NaN or ``None`` ranks below every other.
        loss: n values in [0, 1]; for decisions 1 where wrong.

    Raises:
        ValueError: no answer, different lengths, or an undefined loss.
    """
    stated, lost = _checked(confidence, loss)
    n = len(stated)
    order = np.argsort(-stated, kind="stable")
    ordered = stated[order]
    # The last of each run of equal confidence: a threshold takes all of a tie or none.
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    values, counts = ordered[last], (last + 1).astype(np.float64)
    sums = np.cumsum(lost[order])[last]
    at = np.arange(1, n + 1)
    # Inside a tie the losses are in random order: their expected sum grows in a straight line.
    expected = np.interp(at, np.concatenate(([0.0], counts)), np.concatenate(([0.0], sums)))
    return RiskCoverage(
        threshold=values,
        coverage=counts / n,
        risk=sums / counts,
        aurc=float(np.mean(expected / at)),
        aurc_optimal=float(np.mean(np.cumsum(np.sort(lost)) / at)),
        aurc_random=float(lost.mean()),
        n=n,
    )


def risk_limits(
    confidence: npt.ArrayLike | Sequence[float | None],
    loss: npt.ArrayLike,
    clusters: Sequence[str],
    coverage: npt.ArrayLike,
    *,
    seed: int,
    resamples: int = 1_000,
    level: float = 0.95,
) -> tuple[FloatArray, FloatArray] | None:
    """Return percentile limits of the risk at each coverage, point by point, resampling clusters.

    ``None`` below 10 clusters, where no interval is claimed. Ties in confidence are taken in random
    order, as in `RiskCoverage.aurc`.

    Args:
        confidence: n values; NaN or ``None`` ranks below every other.
        loss: n values in [0, 1].
        clusters: n labels; what shares one is drawn together.
        coverage: shape (points,), in (0, 1].
        seed: of the resampling.
        resamples: of the bootstrap.
        level: coverage of the limits.

    Raises:
        ValueError: as `risk_coverage`, or not one label an answer.
    """
    stated, lost = _checked(confidence, loss)
    if len(clusters) != len(stated):
        raise ValueError(f"{len(clusters)} cluster labels for {len(stated)} answers")
    at = np.asarray(coverage, dtype=np.float64)
    members = [np.flatnonzero(np.asarray(clusters) == name) for name in sorted(set(clusters))]
    if len(members) < MIN_UNITS:
        return None
    rng = generator(seed, "risk", str(len(members)))
    drawn = np.empty((resamples, len(at)))
    for i in range(resamples):
        chosen = np.concatenate([members[j] for j in rng.integers(len(members), size=len(members))])
        curve = risk_coverage(stated[chosen], lost[chosen])
        # Cumulated loss is a straight line between thresholds: so the risk at any coverage.
        total = np.interp(
            at,
            np.concatenate(([0.0], curve.coverage)),
            np.concatenate(([0.0], curve.risk * curve.coverage)),
        )
        drawn[i] = total / at
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail], axis=0)
    return low, high


def abstention_threshold(
    confidence: npt.ArrayLike | Sequence[float | None],
    loss: npt.ArrayLike,
    clusters: Sequence[str] | None = None,
    *,
    alpha: float,
) -> AbstentionThreshold:
    """Return the lowest threshold that keeps P(commit and wrong) at or below alpha.

    Conformal risk control: the lowest threshold t with (n R(t) + 1) / (n + 1) <= alpha, R(t) being
    the mean loss committed to at t or above. Holds in expectation over calibration sets, for one
    case exchangeable with them; not for each set, nor for the risk among the committed.
    Source: Angelopoulos et al., Conformal Risk Control (2024), theorem 1.

    Cases of one cluster are not exchangeable with those of another: with clusters n is their
    number, and the loss that of a cluster, the mean over its cases, so that the guarantee is for
    a case drawn from a new cluster.

    Args:
        confidence: values of the answers; NaN or ``None`` never commits.
        loss: as many values in [0, 1].
        clusters: as many labels; None: every answer stands alone.
        alpha: in (0, 1).

    Raises:
        ValueError: no answer, different lengths, an undefined loss, or alpha outside (0, 1).
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha}: not between 0 and 1")
    stated, lost = _checked(confidence, loss)
    labels = np.arange(len(stated)) if clusters is None else np.asarray(clusters)
    if len(labels) != len(stated):
        raise ValueError(f"{len(labels)} cluster labels for {len(stated)} answers")
    _, member, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    n = len(sizes)

    def found(threshold: float, method: str) -> AbstentionThreshold:
        coverage = float(np.mean(stated >= threshold))
        return AbstentionThreshold(
            threshold=threshold, alpha=alpha, coverage=coverage, n=n, method=method
        )

    allowed = alpha * (n + 1) - 1
    if allowed < 0:
        need = fewest_cases(alpha)
        of = "clusters of cases" if np.any(sizes > 1) else "cases"
        return found(math.inf, f"always abstain: {n} {of}, at least {need} needed for {alpha:g}")
    order = np.argsort(-stated, kind="stable")
    # The last of each run of equal confidence: a threshold takes all of a tie or none.
    ordered = stated[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    total = np.cumsum((lost / sizes[member])[order])[last]
    thresholds = ordered[last]
    kept = np.flatnonzero((total <= allowed + 1e-9) & np.isfinite(thresholds))
    if len(kept) == 0:
        return found(math.inf, "always abstain: the surest answers are wrong too often")
    return found(float(thresholds[kept[-1]]), "conformal risk control")


def fewest_cases(alpha: float) -> int:
    """Cases (or clusters) below which `abstention_threshold` always abstains."""
    return math.ceil(1 / alpha) - 1


def _checked(
    confidence: npt.ArrayLike | Sequence[float | None], loss: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    stated = np.asarray(confidence, dtype=np.float64)
    lost = as_values(loss)
    if len(stated) != len(lost) or len(lost) == 0:
        raise ValueError(f"{len(stated)} confidences for {len(lost)} losses")
    if np.isnan(lost).any() or lost.min() < 0 or lost.max() > 1:
        raise ValueError("a loss is undefined or outside [0, 1]")
    return np.where(np.isnan(stated), -np.inf, stated), lost
