"""Limits of a paired mean difference that gates and claims of equivalence may rest on.

They hold at the levels they are used at, which intervals of what was drawn do not: over 12 clusters
BCa limits err in 1 to 3% of samples at a level of .075%, and where one cluster in eight loses what
the others gain, so do t, studentised and wild cluster bootstrap (docs/decisions/0014).
"""

from __future__ import annotations

import numpy as np

from framework.statistics.bounded import bounded_limits
from framework.statistics.clusters import MIN_UNITS, Units, t_limits
from framework.statistics.intervals import Limits, is_binary
from framework.statistics.proportions import mcnemar_p, tango_limits


def decision_bounds(units: Units, *, share: bool, level: float = 0.95) -> Limits:
    """Return two limits, each valid at one-sided (1 - level) / 2, and what was computed.

    In this order:

    - Fewer than 10 effective clusters: none.
    - Binary axis, every case alone, some case differs: Tango's score limits. A limit that would
      pass 0 without the exact sign test of the discordant pairs is 0 instead, and the method says
      so (four wins to none are not yet superiority).
    - An axis in [0, 1]: `bounded_limits`. With none differing the lower limit is
      -(1 - .025^(1/n)), above -.05 from n = 72.
    - An amount, which has no worst value: t limits by `cluster_robust`; none where fewer than 10
      units differ.

    Args:
        units: differences a - b, summed within clusters.
        share: whether the axis lies in [0, 1], so that no difference is beyond 1.
        level: coverage of the two limits together.
    """
    if not len(units.sums):
        return None, None, "undefined: no cases"
    if units.too_few:
        return None, None, units.too_few
    nonzero = int(np.count_nonzero(units.sums))
    if share and nonzero and not units.clustered and is_binary(np.abs(units.sums)):
        wins = int(np.count_nonzero(units.sums > 0))
        low, high = tango_limits(wins, nonzero - wins, len(units.sums), level)
        if (low > 0 or high < 0) and mcnemar_p(wins, nonzero - wins) > 1 - level:
            return min(low, 0.0), max(high, 0.0), "tango score, not past 0: exact sign test"
        return low, high, "tango score"
    if share:
        return *bounded_limits(units, level, lowest=-1.0), "bounded mean"
    if units.differing < MIN_UNITS:
        what = f"{units.differing} units differ, fewer than {MIN_UNITS}"
        return None, None, f"no bound: {what}"
    return t_limits(units, level)
