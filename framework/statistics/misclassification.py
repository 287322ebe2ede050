"""A share that a judge of known error counted, corrected for that error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from framework.statistics.bootstrap import RESAMPLES
from framework.statistics.clusters import Units, cluster_robust, units_of
from framework.statistics.intervals import LEVEL, Interval, as_values, is_binary, is_share

METHOD: Final = "Rogan-Gladen, Jeffreys draws of the three rates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A corrected share with its limits; all None for a judge that is no better than chance.

    method : of the limits, or why there are none.
    """

    share: float | None
    low: float | None
    high: float | None
    method: str = METHOD


def corrected_share(
    passed: tuple[float, float],
    right: tuple[float, float],
    wrong: tuple[float, float],
    rng: np.random.Generator,
    *,
    judged: float = 1.0,
    draws: int = RESAMPLES,
) -> Corrected:
    """Return the share of right answers behind a share that a judge passed.

    The estimate is (passed - false) / (true - false), cut to [0, 1]: Rogan and Gladen, American
    Journal of Epidemiology 107 (1978), 71-76. Its limits are quantiles of the same over draws of
    the three rates, each from Beta(k + 1/2, n - k + 1/2) (Jeffreys): that both samples are small
    is in them, and a judge that never erred on few answers is not taken for infallible. A draw in
    which the judge is no better than chance says nothing, so it counts as 0 below and 1 above.

    Answers that are wrong without a verdict can't be passed by error: of the share `judged` it is
    (passed - judged false) / (true - false), at most `judged`. That share is of the same sample, so
    it is drawn too, and what passed is drawn of the answers with a verdict.

    Args:
        passed: answers that the judge passed, of how many.
        right: right answers that it passed, of how many.
        wrong: wrong answers that it passed, of how many.
        rng: the generator.
        judged: the share of the answers that it gave a verdict on, above 0.
        draws: of the rates.

    Raises:
        ValueError: counts that are no share.
    """
    for k, n in (passed, right, wrong, (judged, 1)):
        if not 0 <= k <= n or n <= 0:
            raise ValueError(f"{k} of {n}")
    seen, true, false = (k / n for k, n in (passed, right, wrong))
    if true <= false:
        reason = "undefined: the judge passes wrong answers as often as right ones"
        return Corrected(share=None, low=None, high=None, method=reason)
    asked = passed[0], max(judged * passed[1], passed[0])
    q, t, f = (rng.beta(k + 0.5, n - k + 0.5, draws) for k, n in (asked, right, wrong))
    part = np.ones(draws)
    if judged < 1:
        part = rng.beta(asked[1] + 0.5, passed[1] - asked[1] + 0.5, draws)
    told = t > f
    shares = part * np.clip((q - f) / np.where(told, t - f, 1.0), 0.0, 1.0)
    tail = (1 - LEVEL) / 2
    return Corrected(
        share=float(np.clip((seen - judged * false) / (true - false), 0.0, judged)),
        low=float(np.quantile(np.where(told, shares, 0.0), tail)),
        high=float(np.quantile(np.where(told, shares, part), 1 - tail)),
    )


def corrected_mean(
    verdicts: npt.ArrayLike | Sequence[float | None],
    clusters: Sequence[str | None],
    right: tuple[float, float],
    wrong: tuple[float, float],
    rng: np.random.Generator,
    *,
    draws: int = RESAMPLES,
) -> Corrected:
    """Return the same for verdicts that need not be independent, as those on one case are not.

    Where verdicts of one cluster are alike, or a case has several, the counts of `corrected_share`
    are those of an effective sample: as many independent verdicts as would give the cluster-robust
    variance of the share (`cluster_robust`), fewer by the square of Student's t over the normal
    quantile for its degrees of freedom. Source: Korn and Graubard, Survey Methodology 24 (1998),
    193-201; with Jeffreys' interval, Franco et al., Journal of Survey Statistics and Methodology 7
    (2019), 334-364. Below 10 clusters, or clusters that count as 10, no limits are claimed.

    Args:
        verdicts: n values: of the verdicts that an answer got, the share that passed; NaN or
            ``None`` for an answer that is wrong without a verdict.
        clusters: n labels; ``None`` for an answer that stands alone.
        right: as `corrected_share`.
        wrong: as `corrected_share`.
        rng: the generator.
        draws: of the rates.

    Raises:
        ValueError: no verdict, one outside [0, 1], or not one label an answer.
    """
    said = as_values(verdicts)
    passed = np.nan_to_num(said)
    judged = float(np.mean(~np.isnan(said))) if len(said) else 0.0
    if not judged or not is_share(passed):
        raise ValueError("a verdict is in [0, 1], and there is at least one")
    share, n = float(passed.mean()), float(len(said))
    units = units_of(passed, clusters)
    if not is_binary(passed):
        n = _effective(share, units)
    elif units.clustered and not units.too_few:
        n = min(_effective(share, units), n)
    counts = share * n, n
    found = corrected_share(counts, right, wrong, rng, judged=judged, draws=draws)
    if found.share is not None and units.too_few:
        return replace(found, low=None, high=None, method=units.too_few)
    return replace(found, method=f"{found.method}, over clusters") if units.clustered else found


def corrected_difference(
    difference: Interval,
    right: tuple[float, float],
    wrong: tuple[float, float],
    rng: np.random.Generator,
    *,
    judged: float = 0.0,
    draws: int = RESAMPLES,
) -> Corrected:
    """Return the difference of two arms' shares of right answers behind that of their verdicts.

    One judge, which errs alike on both arms: it shrinks a difference to (true - false) of its size,
    so the estimate is difference / (true - false), cut to [-1, 1]. Its limits are quantiles of the
    same over draws of the three: the rates as in `corrected_share`, the difference from a normal
    with the half-widths of its own interval below and above, so that pairs and clusters count as
    they do there. A draw in which the judge is no better than chance says nothing: -1 below, 1
    above.

    Args:
        difference: of what the judge passed, by pairs, with its limits at `LEVEL`. Where an answer
            can be wrong without a verdict, each value less `false` where there was one.
        right: right answers that it passed, of how many.
        wrong: wrong answers that it passed, of how many.
        rng: the generator.
        judged: the difference of the shares of answers with a verdict.
        draws: of the rates and of the difference.
    """
    from scipy.special import ndtri

    true, false = (k / n for k, n in (right, wrong))
    if difference.mean is None or true <= false:
        reason = "undefined: the judge passes wrong answers as often as right ones"
        return Corrected(
            share=None, low=None, high=None, method=reason if true <= false else difference.method
        )
    share = float(np.clip(difference.mean / (true - false), -1.0, 1.0))
    if difference.low is None or difference.high is None:
        return Corrected(share=share, low=None, high=None, method=difference.method)
    t, f = (rng.beta(k + 0.5, n - k + 0.5, draws) for k, n in (right, wrong))
    z = rng.standard_normal(draws) / ndtri((1 + LEVEL) / 2)
    up, down = difference.high - difference.mean, difference.mean - difference.low
    seen = difference.mean + z * np.where(z > 0, up, down) + judged * (false - f)
    told = t > f
    found = np.clip(seen / np.where(told, t - f, 1.0), -1.0, 1.0)
    tail = (1 - LEVEL) / 2
    return Corrected(
        share=share,
        low=float(np.quantile(np.where(told, found, -1.0), tail)),
        high=float(np.quantile(np.where(told, found, 1.0), 1 - tail)),
        method=f"Rogan-Gladen of a difference: {difference.method}",
    )


def _effective(share: float, units: Units) -> float:
    """Independent verdicts that would tell as much of a share; units where all are alike."""
    from scipy.special import ndtri, stdtrit

    if units.differing == 0:
        return units.effective
    variance, freedom = cluster_robust(units)
    wider = float(stdtrit(freedom, (1 + LEVEL) / 2) / ndtri((1 + LEVEL) / 2)) ** 2
    return float(share * (1 - share) / variance / wider)
