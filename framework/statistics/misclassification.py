"""A share that a judge of known error counted, corrected for that error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from framework.statistics.bootstrap import RESAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A corrected share with its limits; all None for a judge that is no better than chance."""

    share: float | None
    low: float | None
    high: float | None


def corrected_share(
    passed: tuple[int, int],
    right: tuple[int, int],
    wrong: tuple[int, int],
    rng: np.random.Generator,
    *,
    draws: int = RESAMPLES,
    level: float = 0.95,
) -> Corrected:
    """Return the share of right answers behind a share that a judge passed.

    The estimate is (passed - false) / (true - false), cut to [0, 1]: Rogan and Gladen, American
    Journal of Epidemiology 107 (1978), 71-76. Its limits are quantiles of the same over draws of
    the three rates, each from Beta(k + 1/2, n - k + 1/2) (Jeffreys): that both samples are small
    is in them, and a judge that never erred on few answers is not taken for infallible. A draw in
    which the judge is no better than chance says nothing, so it counts as 0 below and 1 above.

    Args:
        passed: answers that the judge passed, of how many.
        right: right answers that it passed, of how many.
        wrong: wrong answers that it passed, of how many.
        rng: the generator.
        draws: of the three rates.
        level: coverage.

    Raises:
        ValueError: counts that are no share.
    """
    for k, n in (passed, right, wrong):
        if not 0 <= k <= n or n < 1:
            raise ValueError(f"{k} of {n}")
    seen, true, false = (k / n for k, n in (passed, right, wrong))
    if true <= false:
        return Corrected(share=None, low=None, high=None)
    q, t, f = (rng.beta(k + 0.5, n - k + 0.5, draws) for k, n in (passed, right, wrong))
    told = t > f
    shares = np.clip((q - f) / np.where(told, t - f, 1.0), 0.0, 1.0)
    tail = (1 - level) / 2
    return Corrected(
        share=float(np.clip((seen - false) / (true - false), 0.0, 1.0)),
        low=float(np.quantile(np.where(told, shares, 0.0), tail)),
        high=float(np.quantile(np.where(told, shares, 1.0), 1 - tail)),
    )
