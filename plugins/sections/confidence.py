"""How sure answers are against how often they are right: calibration, risk and CAR over coverage.

An answer that abstains commits to nothing: what confidence it states is that of no decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from framework.analysis.evidence import Job
from framework.records import ABSTAIN, Row
from framework.statistics.clusters import FloatArray
from framework.statistics.intervals import Interval, mean_interval
from framework.statistics.seeding import generator
from plugins.sections.reliability import Reliability, reliability
from plugins.sections.selective import (
    RiskCoverage,
    abstention_threshold,
    fewest_cases,
    risk_coverage,
    risk_limits,
)

SHARES: Final = (0.9, 0.75, 0.5, 0.25, 0.1)
"""Of the cases decided, at which CAR is shown: models are sure on scales of their own."""
ALPHAS: Final = (0.05, 0.1, 0.2)
"""Shares of cases wrongly decided that a conformal threshold is chosen for."""


def reliability_of(job: Job) -> Reliability | None:
    """A job's reliability; None where no answer states a confidence or success is a share."""
    rows = [row for row in _rows(job) if row.success in (0.0, 1.0)]
    stated = _stated(job, rows)
    if not any(value is not None for value in stated):
        return None
    return reliability(
        stated,
        [row.success or 0.0 for row in rows],
        _clusters(rows),
        seed=int(job.summary["run"]["seed"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A job's curve with pointwise 95% limits; None below 10 clusters of cases."""

    curve: RiskCoverage
    limits: tuple[FloatArray, FloatArray] | None


def curve_of(job: Job) -> Curve | None:
    """The curve of a job; None where no answer states a confidence."""
    rows = _rows(job)
    confidence = _stated(job, rows)
    if not any(value is not None for value in confidence):
        return None
    loss = _loss(rows)
    curve = risk_coverage(confidence, loss)
    seed = int(job.summary["run"]["seed"])
    limits = risk_limits(confidence, loss, _clusters(rows), curve.coverage, seed=seed)
    return Curve(curve=curve, limits=limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtThreshold:
    """CAR of a job whose decisions of less confidence were withdrawn.

    committed : the share of cases decided. accuracy : the share right among them. right : the share
    of all cases that are decided and right (LongHorizon 7.2).
    """

    threshold: float
    committed: Interval
    accuracy: Interval
    right: Interval


def car_of(job: Job, thresholds: Sequence[float] | None = None) -> Iterator[AtThreshold]:
    """CAR by threshold; nothing where no answer states a confidence.

    It is what a reader with that threshold gives, from the answers of one without. At 0 nothing is
    withdrawn. By default the others are, for each of `SHARES`, the lowest confidence that leaves no
    more of the cases decided: described, not chosen for use.
    """
    rows = _rows(job)
    stated = _stated(job, rows)
    if not any(value is not None for value in stated):
        return
    clusters, seed = _clusters(rows), int(job.summary["run"]["seed"])
    if thresholds is None:
        curve = risk_coverage(stated, _loss(rows))
        own = [curve.threshold[curve.coverage <= share] for share in SHARES]
        lowest = (float(t.min()) for t in own if len(t))
        thresholds = [0.0, *sorted({t for t in lowest if math.isfinite(t)})]
    for threshold in thresholds:
        kept = [
            row.decision != ABSTAIN
            and (threshold == 0 or (value is not None and value >= threshold))
            for row, value in zip(rows, stated, strict=True)
        ]
        right = [float(k) * (row.success or 0.0) for k, row in zip(kept, rows, strict=True)]
        among = [value if k else None for k, value in zip(kept, right, strict=True)]
        committed, accuracy, all_right = (
            mean_interval(values, clusters, seed=seed)
            for values in ([float(k) for k in kept], among, right)
        )
        yield AtThreshold(
            threshold=threshold, committed=committed, accuracy=accuracy, right=all_right
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformal:
    """A threshold chosen on one half of a job's cases, and what it does on the other half.

    alpha : the share of cases wrongly decided that it is to keep. threshold : infinity: always
    abstain. n : clusters of cases that it was chosen on, `n_checked` of the others; with fewer than
    `least` it always abstains, whatever was answered. committed, wrong : shares of the others that
    are decided, and that are decided and wrong.
    """

    alpha: float
    threshold: float
    n: int
    least: int
    n_checked: int
    committed: Interval
    wrong: Interval
    method: str


def conformal_of(job: Job) -> Iterator[Conformal]:
    """The conformal thresholds for `ALPHAS`; nothing without stated confidence or a second cluster.

    Clusters of cases are dealt into halves by the run's seed, so that those of the second half are
    exchangeable with those of the first: see `abstention_threshold` for what is guaranteed.
    """
    rows = _rows(job)
    stated, loss, clusters = _stated(job, rows), _loss(rows), _clusters(rows)
    names = sorted(set(clusters))
    if not any(value is not None for value in stated) or len(names) < 2:
        return
    seed = int(job.summary["run"]["seed"])
    order = generator(seed, "conformal", str(len(names))).permutation(len(names))
    chosen_on = {names[i] for i in order[: (len(names) + 1) // 2]}
    first = [i for i, name in enumerate(clusters) if name in chosen_on]
    second = [i for i, name in enumerate(clusters) if name not in chosen_on]
    for alpha in ALPHAS:
        found = abstention_threshold(
            [stated[i] for i in first],
            [loss[i] for i in first],
            [clusters[i] for i in first],
            alpha=alpha,
        )
        kept = [float((-math.inf if (s := stated[i]) is None else s) >= found.threshold)
                for i in second]  # fmt: skip
        wrong = [k * loss[i] for k, i in zip(kept, second, strict=True)]
        of = [clusters[i] for i in second]
        yield Conformal(
            alpha=alpha,
            threshold=found.threshold,
            n=found.n,
            least=fewest_cases(alpha),
            n_checked=len(set(of)),
            committed=mean_interval(kept, of, seed=seed),
            wrong=mean_interval(wrong, of, seed=seed),
            method=found.method,
        )


def _rows(job: Job) -> list[Row]:
    return [row for row in sorted(job.good, key=lambda r: r.key) if row.success is not None]


def _stated(job: Job, rows: Sequence[Row]) -> list[float | None]:
    return [None if row.decision == ABSTAIN else job.confidences.get(row.key) for row in rows]


def _loss(rows: Sequence[Row]) -> list[float]:
    return [1.0 - (row.success or 0.0) for row in rows]


def _clusters(rows: Sequence[Row]) -> list[str]:
    return [row.cluster or row.case_id for row in rows]
