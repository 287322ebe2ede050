"""Decisions of a gate on one axis: not worse than the baseline by a margin, or better by one.

One-sided .025: a limit of the 95% `Comparison.bounds` decides, never the point estimate. Several
gated axes must each pass, which needs no adjustment. A failed case counts as the worst value of its
axis; the caller sets it before comparing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from framework.statistics.paired import Comparison

Conclusion = Literal["passed", "failed", "undecided", "cannot conclude"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a gate decides on one axis.

    Attributes:
        passed: whether the bound clears the threshold; only `conclusion == "passed"` does.
        conclusion: "passed"; "failed": the other limit shows the opposite; "undecided": the
            interval holds the threshold; "cannot conclude": no bound, or too few cases to clear the
            threshold even if no case were lost.
        bound: the limit that must clear the threshold, positive where the candidate is better.
        threshold: what the bound must exceed: minus the margin, or the margin of superiority.
        method: of the bound.
        reason: one line for people.
    """

    passed: bool
    conclusion: Conclusion
    bound: float | None
    threshold: float
    method: str
    reason: str


def noninferiority(
    comparison: Comparison, margin: float, *, lower_is_better: bool = False
) -> Decision:
    """Decide whether candidate a is worse than baseline b by less than `margin`.

    Args:
        comparison: candidate as a, baseline as b.
        margin: above 0, in the axis's unit: the largest loss that is acceptable.
        lower_is_better: whether a smaller value of the axis is the better one.

    Raises:
        ValueError: a margin of 0 or less.
    """
    if not margin > 0:
        raise ValueError(f"non-inferiority margin {margin}: not above 0")
    return _decide(comparison, -margin, lower_is_better)


def superiority(
    comparison: Comparison, margin: float = 0.0, *, lower_is_better: bool = False
) -> Decision:
    """Decide whether candidate a is better than baseline b by more than `margin`.

    Args:
        comparison: candidate as a, baseline as b.
        margin: 0 or more, in the axis's unit.
        lower_is_better: whether a smaller value of the axis is the better one.

    Raises:
        ValueError: a negative margin.
    """
    if not margin >= 0:
        raise ValueError(f"superiority margin {margin}: below 0")
    return _decide(comparison, margin, lower_is_better)


def cases_needed(margin: float, alpha: float = 0.025) -> int:
    """Return how many pairs show non-inferiority on an axis in [0, 1] when none is discordant.

    The least n with 1 - alpha^(1/n) < margin: 72 for a margin of .05.

    Raises:
        ValueError: a margin outside (0, 1).
    """
    if not 0 < margin < 1:
        raise ValueError(f"margin {margin}: not between 0 and 1")
    return math.floor(math.log(alpha) / math.log1p(-margin)) + 1


def _decide(comparison: Comparison, threshold: float, lower_is_better: bool) -> Decision:
    bounds = comparison.bounds
    low, high = bounds.low, bounds.high
    if lower_is_better and low is not None and high is not None:
        low, high = -high, -low

    def decision(conclusion: Conclusion, reason: str) -> Decision:
        return Decision(
            passed=conclusion == "passed",
            conclusion=conclusion,
            bound=low,
            threshold=threshold,
            method=bounds.method,
            reason=reason,
        )

    if low is None or high is None:
        return decision("cannot conclude", bounds.method)
    if low > threshold:
        return decision("passed", f"bound {low:+.4f} above {threshold:+.4f}")
    if high <= threshold:
        return decision("failed", f"the upper limit {high:+.4f} is not above {threshold:+.4f}")
    units = bounds.n_clusters or bounds.n
    # What an unseen case could lose has no limit where the axis is an amount.
    if comparison.share and 0 < -threshold < 1:
        level = comparison.alpha / 2
        best = math.expm1(math.log(level) / units)  # if no pair differed
        if best <= threshold:
            return decision(
                "cannot conclude",
                f"bound {low:+.4f} not above {threshold:+.4f}; without one discordant case "
                f"{units} give {best:+.4f}, {cases_needed(-threshold, level)} are needed",
            )
    return decision("undecided", f"bound {low:+.4f} not above {threshold:+.4f}")
