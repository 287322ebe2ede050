"""How far the axes measure the same thing: rank correlations over cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framework.statistics.clusters import FloatArray
from framework.statistics.intervals import as_values

MIN_CASES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationMatrix:
    """Spearman correlations between axes, each over the cases where both are defined.

    Attributes:
        axes: names, in the order of rows and columns.
        rho: shape (axes, axes), symmetric; NaN below 3 cases, or where an axis is constant.
        n: shape (axes, axes), cases behind each entry.
    """

    axes: tuple[str, ...]
    rho: FloatArray
    n: npt.NDArray[np.int64]


def axis_correlations(
    axes: Mapping[str, npt.ArrayLike | Sequence[float | None]],
) -> CorrelationMatrix:
    """Return the correlation matrix of axes over cases.

    Args:
        axes: for each axis one value a case, cases in one order; NaN or ``None`` where undefined.

    Raises:
        ValueError: axes of different lengths, or an infinite value.
    """
    names = tuple(axes)
    columns = [as_values(axes[name]) for name in names]
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the axes have different numbers of cases")
    rho = np.full((len(names), len(names)), np.nan)
    n = np.zeros((len(names), len(names)), dtype=np.int64)
    for i, x in enumerate(columns):
        for j in range(i, len(columns)):
            y = columns[j]
            both = ~(np.isnan(x) | np.isnan(y))
            n[i, j] = n[j, i] = np.count_nonzero(both)
            if n[i, j] >= MIN_CASES:
                rho[i, j] = rho[j, i] = spearman(x[both], y[both])
    return CorrelationMatrix(axes=names, rho=rho, n=n)


def spearman(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's rank correlation, ties at their mean rank; NaN where either is constant.

    Args:
        x: shape (n,), no NaN.
        y: shape (n,), no NaN.
    """
    ranks_x, ranks_y = (_mean_ranks(values) for values in (x, y))
    ranks_x -= ranks_x.mean()
    ranks_y -= ranks_y.mean()
    scale = float(np.sqrt(np.sum(ranks_x**2) * np.sum(ranks_y**2)))
    if scale == 0:
        return float("nan")
    return float(np.clip(np.sum(ranks_x * ranks_y) / scale, -1.0, 1.0))


def _mean_ranks(values: FloatArray) -> FloatArray:
    _, member, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[member]
