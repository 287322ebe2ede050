"""Decay laws fitted to recall by depth, and whether the depths measured can tell them apart.

The Depth paper measured three depths, at which every law of two parameters fits as well as another
(its limitations; appendix, decay-law selection). From about five depths on they part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Recall at one depth: the sum of the cases' recalls (whole or in shares) and their number."""

    depth: float
    recalled: float
    cases: int

    @property
    def recall(self) -> float:
        """Mean recall, in [0, 1]."""
        return self.recalled / self.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayFit:
    """One law fitted by binomial maximum likelihood.

    parameters : by name. s0 is the recall at the law's origin, at most 1.
    aicc : Akaike's criterion corrected for the number of depths; infinite where there are too few
        depths for the correction, so that no choice can rest on it.
    error : root mean square error of recall at the depths fitted.
    held_out_error : the same at each depth predicted from a fit to the others (leave one out).
    extrapolated_error : at the deepest third, predicted from the others; None below five depths.
    """

    law: str
    parameters: Mapping[str, float]
    log_likelihood: float
    aicc: float
    error: float
    held_out_error: float
    extrapolated_error: float | None


@dataclass(frozen=True, slots=True)
class _Law:
    """A law of depth; `bounds` by parameter."""

    bounds: Mapping[str, tuple[float, float]]
    recall: Callable[..., FloatArray]


_SHARE: Final = (1e-6, 1.0)
_STARTS: Final = 4

LAWS: Final[Mapping[str, _Law]] = {
    "constant": _Law({"s0": _SHARE}, lambda d, s0: np.full_like(d, s0)),
    "geometric": _Law({"s0": _SHARE, "rho": _SHARE}, lambda d, s0, rho: s0 * rho ** (d - 1)),
    "triangular": _Law(
        {"s0": _SHARE, "rho": _SHARE}, lambda d, s0, rho: s0**d * rho ** (d * (d + 1) / 2)
    ),
    "stretched_exponential": _Law(
        {"s0": _SHARE, "rate": (0.0, 20.0), "beta": (0.05, 5.0)},
        lambda d, s0, rate, beta: s0 * np.exp(-rate * (d - 1) ** beta),
    ),
    "power_law": _Law(
        {"s0": _SHARE, "alpha": (0.0, 20.0)}, lambda d, s0, alpha: s0 * d ** (-alpha)
    ),
}
"""Recall by depth d >= 1. `triangular` is the paper's Theorem 7, `geometric` traversal's q^d."""


def fit_decays(measured: Sequence[Measured]) -> tuple[DecayFit, ...]:
    """Every law, the best by AICc first (then by held-out error, then by name)."""
    fits = [fit_decay(name, measured) for name in LAWS]
    return tuple(sorted(fits, key=lambda fit: (fit.aicc, fit.held_out_error, fit.law)))


def weights(fits: Sequence[DecayFit]) -> tuple[float | None, ...]:
    """Each law's share of the support that AICc gives them all: Akaike weights.

    None for every law where one has no finite criterion: there are too few depths. Source: Burnham
    and Anderson, Model Selection and Multimodel Inference (2002), section 2.9.
    """
    least = min(fit.aicc for fit in fits)
    if any(math.isinf(fit.aicc) for fit in fits):
        return (None,) * len(fits)
    shares = [math.exp((least - fit.aicc) / 2) for fit in fits]
    return tuple(share / math.fsum(shares) for share in shares)


def fit_decay(name: str, measured: Sequence[Measured]) -> DecayFit:
    """One law fitted to recall by depth.

    Args:
        name: one of `LAWS`.
        measured: one entry a depth, at least two depths.

    Raises:
        ValueError: for fewer than two depths, a depth below 1 or met twice, or a recall outside
            [0, 1].
    """
    points = sorted(measured, key=lambda point: point.depth)
    depths = [point.depth for point in points]
    if len(set(depths)) < 2 or len(set(depths)) < len(depths) or depths[0] < 1:
        raise ValueError("at least two different depths of 1 or more expected, each once")
    if any(p.cases < 1 or not 0 <= p.recalled <= p.cases for p in points):
        raise ValueError("a recall between 0 and 1 expected at every depth")
    law = LAWS[name]
    best, value = _maximise(law, points)
    k, n = len(law.bounds), len(points)
    room = n - k - 1
    aicc = math.inf if room <= 0 else 2 * k - 2 * value + 2 * k * (k + 1) / room
    left_out = [_missed(law, points[:i] + points[i + 1 :], [points[i]]) for i in range(n)]
    deep = max(1, n // 3)
    return DecayFit(
        law=name,
        parameters=dict(zip(law.bounds, map(float, best), strict=True)),
        log_likelihood=value,
        aicc=aicc,
        error=_rms(law, best, points),
        held_out_error=math.sqrt(float(np.mean(np.square(left_out)))),
        extrapolated_error=_missed(law, points[:-deep], points[-deep:]) if n >= 5 else None,
    )


def _missed(law: _Law, known: Sequence[Measured], unknown: Sequence[Measured]) -> float:
    return _rms(law, _maximise(law, known)[0], unknown)


def _rms(law: _Law, parameters: FloatArray, points: Sequence[Measured]) -> float:
    depths = np.array([p.depth for p in points], dtype=np.float64)
    recalls = np.array([p.recall for p in points])
    return float(np.sqrt(np.mean((law.recall(depths, *parameters) - recalls) ** 2)))


def _maximise(law: _Law, points: Sequence[Measured]) -> tuple[FloatArray, float]:
    """The likeliest parameters within bounds, and the log likelihood, from a grid's best starts."""
    from scipy.optimize import minimize

    depths = np.array([p.depth for p in points], dtype=np.float64)
    hits = np.array([p.recalled for p in points], dtype=np.float64)
    misses = np.array([p.cases for p in points], dtype=np.float64) - hits

    def loss(parameters: FloatArray) -> float:
        recall = np.clip(law.recall(depths, *parameters), 1e-9, 1 - 1e-9)
        return -float(hits @ np.log(recall) + misses @ np.log1p(-recall))

    bounds = list(law.bounds.values())
    starts = np.meshgrid(*(np.linspace(low, min(high, 3.0), 5)[1:-1] for low, high in bounds))
    candidates = np.stack([s.ravel() for s in starts], axis=1)
    near = sorted(candidates, key=loss)[:_STARTS]
    found = [minimize(loss, start, method="L-BFGS-B", bounds=bounds) for start in near]
    best = min(found, key=lambda result: float(result.fun))
    return np.asarray(best.x, dtype=np.float64), -float(best.fun)
