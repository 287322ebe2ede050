"""Compliance by arm and depth in one model: logistic, cases as clusters, separation refused."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from framework.statistics.clusters import MIN_UNITS, FloatArray
from framework.statistics.intervals import as_values, is_binary

_LARGEST_COEFFICIENT = 10.0  # odds of 22,000 to 1: no data of this size tells that


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One coefficient, in log-odds, with its robust standard error, 95% limits and Wald p."""

    name: str
    coefficient: float
    se: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthModel:
    """A fitted model, or why there is none.

    Attributes:
        terms: intercept, each other arm, depth, and each arm's own slope; empty where refused.
        baseline: the arm that the others are compared with.
        n: observations.
        n_clusters: cases.
        method: the model, or the refusal.
    """

    terms: tuple[Term, ...] = ()
    baseline: str
    n: int
    n_clusters: int
    method: str


def compliance_model(
    success: npt.ArrayLike,
    arms: Sequence[str],
    depths: Sequence[float],
    cases: Sequence[str],
    *,
    baseline: str,
    level: float = 0.95,
) -> DepthModel:
    """Fit success ~ arm x depth by generalised estimating equations, cases as clusters.

    Binomial, exchangeable correlation within a case, bias-reduced sandwich errors (Mancl and
    DeRouen 2001). Depth counts from the smallest one. Refused where the likelihood has no maximum:
    an arm always or never succeeds, or its depth splits successes from failures. There the
    estimate runs away while its standard error may come out as 0.

    Args:
        success: n values, 0 or 1.
        arms: n names.
        depths: n depths.
        cases: n labels; the arms share cases.
        baseline: one of the arms.
        level: coverage.

    Raises:
        ValueError: different lengths, values other than 0 and 1, or an unknown baseline.
    """
    y, x = as_values(success), as_values(depths)
    if not len(y) == len(arms) == len(x) == len(cases):
        raise ValueError("success, arms, depths and cases differ in length")
    if not is_binary(y) or np.isnan(x).any():
        raise ValueError("success is 0 or 1, and every observation has a depth")
    names = sorted(set(arms))
    if baseline not in names:
        raise ValueError(f"baseline {baseline!r} is not among the arms: {', '.join(names)}")
    labels = np.array(arms)
    n_clusters = len(set(cases))
    refusal = _refusal(y, x, labels, names, n_clusters)
    model = DepthModel(baseline=baseline, n=len(y), n_clusters=n_clusters, method=refusal)
    if refusal:
        return model
    others = [name for name in names if name != baseline]
    design, terms = _design(x - x.min(), labels, others)
    fitted = _fit(y, design, cases)
    if fitted is None:
        reason = "refused: the fit did not converge to finite coefficients and errors"
        return replace(model, method=reason)
    return replace(
        model,
        terms=tuple(_term(*line, level) for line in zip(terms, *fitted, strict=True)),
        method="GEE, binomial, exchangeable, bias-reduced errors",
    )


def _refusal(
    y: FloatArray,
    x: FloatArray,
    labels: npt.NDArray[np.str_],
    names: Sequence[str],
    n_clusters: int,
) -> str:
    if len(np.unique(x)) < 2:
        return "refused: one depth"
    if n_clusters < MIN_UNITS:
        return f"refused: {n_clusters} cases, fewer than {MIN_UNITS}"
    for name in names:
        own, depth = y[labels == name], x[labels == name]
        if own.min() == own.max():
            return f"refused: separation, arm {name} is at {own[0]:.0%}"
        if len(np.unique(depth)) < 2:
            return f"refused: arm {name} was measured at one depth"
        up, down = depth[own == 1], depth[own == 0]
        if up.max() <= down.min() or down.max() <= up.min():
            return (
                f"refused: separation, depth splits the successes of arm {name} from its failures"
            )
    return ""


def _design(
    depth: FloatArray, labels: npt.NDArray[np.str_], others: Sequence[str]
) -> tuple[FloatArray, list[str]]:
    indicators = [(labels == name).astype(np.float64) for name in others]
    columns = [np.ones(len(depth)), *indicators, depth, *(depth * i for i in indicators)]
    terms = ["intercept", *others, "depth", *(f"{name} x depth" for name in others)]
    return np.column_stack(columns), terms


def _fit(
    y: FloatArray, design: FloatArray, cases: Sequence[str]
) -> tuple[FloatArray, FloatArray] | None:
    import statsmodels.api as sm

    number = {case: i for i, case in enumerate(sorted(set(cases)))}
    groups = np.array([number[case] for case in cases])
    order = np.argsort(groups, kind="stable")
    model = sm.GEE(
        y[order],
        design[order],
        groups=groups[order],
        family=sm.families.Binomial(),
        cov_struct=sm.cov_struct.Exchangeable(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = model.fit(cov_type="bias_reduced")
        except (np.linalg.LinAlgError, ValueError, ZeroDivisionError):
            return None
    coefficients, errors = np.asarray(result.params), np.asarray(result.bse)
    sound = (
        result.converged
        and np.isfinite(coefficients).all()
        and np.isfinite(errors).all()
        and (errors > 1e-8).all()
        and np.abs(coefficients).max() < _LARGEST_COEFFICIENT
    )
    return (coefficients, errors) if sound else None


def _term(name: str, coefficient: float, se: float, level: float) -> Term:
    from scipy.special import ndtr, ndtri

    half = float(ndtri((1 + level) / 2)) * float(se)
    return Term(
        name=name,
        coefficient=float(coefficient),
        se=float(se),
        low=float(coefficient) - half,
        high=float(coefficient) + half,
        p=2 * float(ndtr(-abs(coefficient / se))),
    )
