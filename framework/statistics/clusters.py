"""Clusters of cases: how many they count as, and the spread of a mean over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from framework.text.counting import counted

FloatArray = npt.NDArray[np.float64]

MIN_UNITS: Final = 10
"""Below so many effective clusters no interval over clusters is claimed."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is independent of each other: cases, or the clusters that hold them.

    Attributes:
        sums: shape (units,), a unit's values added up.
        sizes: shape (units,), its cases; all 1 where every case stands alone. A case weighs less
            where only some of its rows define the axis.
    """

    sums: FloatArray
    sizes: FloatArray

    @property
    def clustered(self) -> bool:
        """Whether some unit holds several cases."""
        return bool(np.any(self.sizes > 1))

    @property
    def identical(self) -> bool:
        """Whether every unit is one whole case."""
        return bool(np.all(self.sizes == 1))

    @property
    def effective(self) -> float:
        """As many clusters of one size would weigh the same: (sum n)^2 / sum n^2 (Kish 1965, 8.2).

        382 of 402 cases in one of 16 clusters make 1.1 of them.
        """
        return float(self.sizes.sum() ** 2 / (self.sizes @ self.sizes)) if len(self.sizes) else 0.0

    @property
    def too_few(self) -> str:
        """Why no interval over clusters is claimed; empty where one is, or where none is needed."""
        if not self.clustered or self.effective >= MIN_UNITS:
            return ""
        worth = counted(len(self.sizes), "cluster")
        if np.ptp(self.sizes) > 0:
            worth += f" of unequal size, worth {self.effective:.1f}"
        return f"no interval: {worth}, fewer than {MIN_UNITS}"

    @property
    def mean(self) -> float:
        """Over cases."""
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def differing(self) -> int:
        """Units that are not as the commonest value has it: what a bootstrap can vary."""
        _, counts = np.unique(np.round(self.sums / self.sizes, 12), return_counts=True)
        return len(self.sums) - int(counts.max(initial=0))


def units_of(
    values: FloatArray,
    clusters: Sequence[str | None] | None,
    weights: FloatArray | None = None,
) -> Units:
    """Sum n values within their clusters, in order of first appearance.

    Args:
        values: shape (n,), one a case.
        clusters: n labels; ``None`` for a case that stands alone.
        weights: shape (n,), above 0 and at most 1; ``None``: every case weighs 1.

    Raises:
        ValueError: not one label a case.
    """
    weights = np.ones(len(values)) if weights is None else weights
    if clusters is None:
        return Units(values * weights, weights)
    if len(clusters) != len(values):
        raise ValueError(f"{len(clusters)} cluster labels for {len(values)} values")
    number: dict[tuple[str, int], int] = {}
    member = np.fromiter(
        (
            number.setdefault(("", i) if label is None else (label, -1), len(number))
            for i, label in enumerate(clusters)
        ),
        dtype=np.intp,
        count=len(clusters),
    )
    if len(number) == len(values):
        return Units(values * weights, weights)
    sums = np.bincount(member, weights=values * weights).astype(np.float64)
    return Units(sums, np.bincount(member, weights=weights).astype(np.float64))


def cluster_robust(units: Units) -> tuple[float, float]:
    """Return the variance of the mean over cases and its degrees of freedom.

    CR2 of a regression on a constant: each cluster's residual is divided by 1 minus its share of
    the cases, which takes out the bias that large clusters bring. Satterthwaite's degrees of
    freedom are the fewer of those for independent cases and for cases alike within clusters. With
    clusters of one size that is the t-test of their means, with n - 1.
    Source: Bell and McCaffrey, Survey Methodology 28 (2002), 169-181, in closed form.
    """
    share = units.sizes / units.sizes.sum()
    weight = 1 / (1 - share)
    residuals = units.sums - units.sizes * units.mean
    variance = float(weight @ residuals**2) / float(units.sizes.sum()) ** 2
    return variance, min(_freedom(share, weight, units.sizes**power) for power in (1, 2))


def _freedom(share: FloatArray, weight: FloatArray, assumed: FloatArray) -> float:
    """tr(P)^2 / tr(P^2) for P the covariance of the weighted residuals, `assumed` that of sums."""
    total = assumed.sum()
    off = total * share**2 - 2 * share * assumed  # on the diagonal; off it likewise, symmetric
    x, y = weight @ share**2, weight @ assumed**2
    z = weight @ (share * assumed)
    squares = 2 * x * y + total**2 * x**2 + 2 * z**2 - 4 * total * x * z
    squares += weight**2 @ ((assumed + off) ** 2 - off**2)
    return float((weight @ (assumed + off)) ** 2 / squares)


def t_limits(units: Units, level: float) -> tuple[float, float, str]:
    """Return Student's t limits of the mean, by `cluster_robust`, and the method's name."""
    from scipy.special import stdtrit

    variance, freedom = cluster_robust(units)
    half = float(stdtrit(freedom, (1 + level) / 2)) * variance**0.5
    return units.mean - half, units.mean + half, "cr2 t" if units.clustered else "t"
