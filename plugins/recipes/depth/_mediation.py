"""Whether an arm's advantage runs through retention: mediation with two arms on the same cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from framework.statistics.bootstrap import RESAMPLES, bootstrap_means, percentile_limits, unit_sums
from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.paired import UnpairedCases, pair
from framework.statistics.seeding import generator

_MOST_UNDEFINED = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Mediation:
    """Arm a against arm b: total = direct + indirect, the indirect part through the mediator.

    Attributes:
        total: difference of the outcome, a - b.
        direct: what is left with the mediator held fixed; ``None`` where undefined.
        indirect: path through the mediator; ``None`` where undefined.
        indirect_low: 95% percentile limit over cases, ``None`` where none is claimed.
        indirect_high: the other.
        proportion: indirect / total; ``None`` unless the interval of total keeps clear of 0.
        proportion_low: 95% percentile limit.
        proportion_high: the other.
        n: cases.
        method: of the limits, or why there are none.
    """

    total: float
    direct: float | None = None
    indirect: float | None = None
    indirect_low: float | None = None
    indirect_high: float | None = None
    proportion: float | None = None
    proportion_low: float | None = None
    proportion_high: float | None = None
    n: int
    method: str


def mediation(
    mediator_a: Mapping[str, float],
    mediator_b: Mapping[str, float],
    outcome_a: Mapping[str, float],
    outcome_b: Mapping[str, float],
    *,
    clusters: Mapping[str, str | None] | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Mediation:
    """Decompose an arm's effect on the outcome (Baron and Kenny 1986; Depth, section 7 and (o)).

    Two linear regressions in closed form: arm -> mediator, and mediator -> outcome with the arm
    held fixed; clusters of cases are resampled with both arms inside. This describes an
    association: that the mediator causes the outcome is an assumption, which only an intervention
    can test.

    Args:
        mediator_a: case id -> mediator of arm a, such as retention.
        mediator_b: of arm b, the same cases.
        outcome_a: case id -> outcome of arm a, such as compliance.
        outcome_b: of arm b.
        clusters: case id -> what it shares with others; without it every case is its own.
        seed: of the resampling.
        resamples: of the bootstrap.
        level: coverage.

    Raises:
        UnpairedCases: not the same cases in all four.
        ValueError: no case, or an undefined or infinite value.
    """
    middle = pair(dict(mediator_a), dict(mediator_b))
    result = pair(dict(outcome_a), dict(outcome_b))
    n = len(middle.ids)
    if n == 0 or middle.undefined or result.undefined:
        raise ValueError("mediation needs cases, every value defined")
    if middle.ids != result.ids:
        raise UnpairedCases("mediator and outcome were measured on different cases")
    labels = None if clusters is None else [clusters[case] for case in middle.ids]
    moments = [*_moments(middle.a, result.a), *_moments(middle.b, result.b), np.ones(n)]
    # Sums by unit, with the size of the units as the last: means are ratios of sums.
    columns = [unit_sums(moment, labels) for moment in moments]
    units, of = len(columns[0]), "cases" if clusters is None else "clusters"
    total, indirect, _ = _paths([np.array([c.mean()]) for c in moments[:-1]])
    if np.isnan(indirect[0]):
        reason = "undefined: the mediator does not vary within an arm"
        return Mediation(total=float(total[0]), n=n, method=reason)
    estimate = Mediation(
        total=float(total[0]),
        direct=float(total[0] - indirect[0]),
        indirect=float(indirect[0]),
        n=n,
        method=f"no interval: {units} {of}, fewer than {MIN_UNITS}",
    )
    if units < MIN_UNITS:
        return estimate
    *drawn, sizes = bootstrap_means(columns, generator(seed, "mediation", str(n)), resamples)
    totals, indirects, _ = _paths([means / sizes for means in drawn])
    defined = ~np.isnan(indirects)
    undefined = 1 - float(defined.mean())
    if undefined > _MOST_UNDEFINED:
        reason = f"no interval: undefined in {undefined:.0%} of resamples"
        return replace(estimate, method=reason)
    low, high = percentile_limits(indirects[defined], level)
    estimate = replace(estimate, indirect_low=low, indirect_high=high)
    around = percentile_limits(totals, level)
    if around[0] <= 0 <= around[1]:
        method = f"percentile bootstrap of {of}; no proportion: the total may be 0"
        return replace(estimate, method=method)
    share = np.full_like(totals, np.inf)
    np.divide(indirects, totals, out=share, where=totals != 0)
    low, high = percentile_limits(share[defined], level)
    return replace(
        estimate,
        proportion=float(indirect[0]) / float(total[0]),
        proportion_low=low,
        proportion_high=high,
        method=f"percentile bootstrap of {of}",
    )


def _moments(mediator: FloatArray, outcome: FloatArray) -> list[FloatArray]:
    return [mediator, outcome, mediator**2, mediator * outcome]


def _paths(means: list[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Total, indirect effect and slope from the eight moments, elementwise over resamples."""
    m_a, y_a, mm_a, my_a, m_b, y_b, mm_b, my_b = means
    variance = mm_a - m_a**2 + mm_b - m_b**2
    covariance = my_a - m_a * y_a + my_b - m_b * y_b
    scale = np.maximum(mm_a + mm_b, 1e-300)
    slope = np.divide(
        covariance,
        variance,
        out=np.full_like(variance, np.nan),
        where=variance > 1e-12 * scale,
    )
    return y_a - y_b, (m_a - m_b) * slope, slope
