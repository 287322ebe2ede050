"""Limits of a paired mean difference that gates and claims of equivalence may rest on.

The bootstrap sees only what was drawn, so where few pairs differ it claims a precision that the
sample does not have: on 72 binary pairs its BCa limit lets through an arm that is worse by the
whole margin of .05 in up to 4.5% of samples instead of 2.5%. There these limits come from exact or
score methods.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from framework.statistics.bootstrap import MIN_UNITS, FloatArray
from framework.statistics.intervals import (
    Interval,
    clopper_pearson,
    is_binary,
    unvaried_limits,
)
from framework.statistics.proportions import mcnemar_p, tango_limits


def decision_bounds(
    differences: FloatArray,
    bootstrap: Interval,
    *,
    share: bool,
    flips: FloatArray | None = None,
    heaviest: float = 1.0,
    level: float = 0.95,
) -> Interval:
    """Return two limits, each valid at one-sided (1 - level) / 2.

    In this order:

    - No bootstrap interval over fewer than 10 clusters: none here either.
    - All differences equal, axis in [0, 1]: exact, from what n alike pairs leave unseen. With none
      discordant the lower limit is -(1 - .025^(1/n)), above -.05 from n = 72.
    - Binary axis, every case alone: Tango's score limits; a limit does not pass 0 unless the exact
      sign test of the discordant pairs does (four wins to none are not yet superiority).
    - Fewer than 10 units differ, axis in [0, 1]: the Clopper-Pearson limit of the share of losses,
      each taken as a full loss of the largest unit.
    - Fewer than 10 units differ, an amount: none.
    - Otherwise the bootstrap's.

    Args:
        differences: shape (units,), a - b; see `unit_values`.
        flips: shape (units,), 0 where a unit does not differ; see `unit_sums`. ``None`` where every
            case stands alone: the differences themselves.
        bootstrap: their bootstrap interval, which names n and clusters.
        share: whether the axis lies in [0, 1], so that no difference is beyond 1.
        heaviest: size of the largest unit over the mean size.
        level: coverage of the two limits together.
    """
    size = len(differences)
    flips = differences if flips is None else flips
    clustered = bootstrap.n_clusters is not None
    if size == 0 or (clustered and size < MIN_UNITS):
        return bootstrap
    nonzero = int(np.count_nonzero(flips))
    if share and np.ptp(differences) <= 1e-12:
        low, high = unvaried_limits(float(differences[0]), size, level, lowest=-1.0)
        return replace(bootstrap, low=low, high=high, method="exact (all differences equal)")
    if share and not clustered and is_binary(np.abs(differences)):
        wins = int(np.count_nonzero(differences > 0))
        low, high = tango_limits(wins, nonzero - wins, size, level)
        if mcnemar_p(wins, nonzero - wins) > 1 - level:
            low, high = min(low, 0.0), max(high, 0.0)
        return replace(bootstrap, low=low, high=high, method="tango score")
    if nonzero >= MIN_UNITS:
        return bootstrap
    if share:
        wins = int(np.count_nonzero(flips > 0))
        low = -min(1.0, heaviest * clopper_pearson(nonzero - wins, size, level)[1])
        high = min(1.0, heaviest * clopper_pearson(wins, size, level)[1])
        method = "clopper-pearson of losses (few differ)"
        return replace(bootstrap, low=low, high=high, method=method)
    reason = f"no bound: {nonzero} units differ, fewer than {MIN_UNITS}"
    return replace(bootstrap, low=None, high=None, method=reason)
