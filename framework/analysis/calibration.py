"""How sure answers are against how often they are right: calibration, and risk over coverage."""

from __future__ import annotations

from dataclasses import dataclass

from framework.analysis.evidence import Job
from framework.statistics.calibration import Reliability, reliability
from framework.statistics.clusters import FloatArray
from framework.statistics.selective import RiskCoverage, risk_coverage, risk_limits


def reliability_of(job: Job) -> Reliability | None:
    """A job's reliability; None where no answer states a confidence or success is a share."""
    rows = [row for row in sorted(job.good, key=lambda r: r.key) if row.success in (0.0, 1.0)]
    if not rows or not any(row.key in job.confidences for row in rows):
        return None
    return reliability(
        [job.confidences.get(row.key) for row in rows],
        [row.success or 0.0 for row in rows],
        [row.cluster or row.case_id for row in rows],
        seed=int(job.summary["run"]["seed"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A job's curve with pointwise 95% limits; None below 10 clusters of cases."""

    curve: RiskCoverage
    limits: tuple[FloatArray, FloatArray] | None


def curve_of(job: Job) -> Curve | None:
    """The curve of a job; None where no answer states a confidence."""
    rows = [row for row in sorted(job.good, key=lambda r: r.key) if row.success is not None]
    if not rows:
        return None
    stated = job.confidences
    if not any(row.key in stated for row in rows):
        return None
    confidence = [stated.get(row.key) for row in rows]
    loss = [1.0 - (row.success or 0.0) for row in rows]
    curve = risk_coverage(confidence, loss)
    clusters = [row.cluster or row.case_id for row in rows]
    seed = int(job.summary["run"]["seed"])
    return Curve(
        curve=curve, limits=risk_limits(confidence, loss, clusters, curve.coverage, seed=seed)
    )
