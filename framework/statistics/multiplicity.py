"""P-values adjusted for how many were looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values, in the order given (Holm 1979).

    Comparing them with alpha keeps the chance of any false rejection in the family at or below
    alpha, whatever the dependence.

    Raises:
        ValueError: a p-value outside [0, 1] or NaN.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("a p-value is outside [0, 1]")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(value) for value in adjusted]
