from __future__ import annotations

import numpy as np
import pytest

from plugins.recipes.depth._regression import compliance_model


def observed(
    seed: int, n_cases: int, slopes: dict[str, float]
) -> tuple[list[float], list[str], list[float], list[str]]:
    rng = np.random.default_rng(seed)
    y: list[float] = []
    arms: list[str] = []
    depths: list[float] = []
    cases: list[str] = []
    for case in range(n_cases):
        depth, own = 1 + case % 3, rng.normal(0, 0.3)
        for arm, slope in slopes.items():
            chance = 1 / (1 + np.exp(-(1.5 + own + slope * (depth - 1))))
            y.append(float(rng.random() < chance))
            arms.append(arm)
            depths.append(float(depth))
            cases.append(f"c{case:04}")
    return y, arms, depths, cases


def test_slopes_are_recovered() -> None:
    found = compliance_model(*observed(1, 1500, {"a": -0.1, "b": -1.0}), baseline="a")
    terms = {term.name: term for term in found.terms}
    assert list(terms) == ["intercept", "b", "depth", "b x depth"]
    interaction = terms["b x depth"]
    assert interaction.low < -0.9 < interaction.high
    assert interaction.p < 1e-4
    assert (found.n, found.n_clusters) == (3000, 1500)


def test_without_correlation_it_is_logistic_regression() -> None:
    import statsmodels.api as sm

    y, arms, depths, _ = observed(2, 300, {"a": -0.2, "b": -0.8})
    own = [f"o{i}" for i in range(len(y))]
    found = compliance_model(y, arms, depths, own, baseline="a")
    is_b = np.array([arm == "b" for arm in arms], dtype=float)
    x = np.array(depths) - 1
    oracle = sm.Logit(y, np.column_stack((np.ones(len(y)), is_b, x, is_b * x))).fit(disp=0)
    assert [t.coefficient for t in found.terms] == pytest.approx(oracle.params, abs=1e-4)


def test_separation_is_refused_by_name() -> None:
    y, arms, depths, cases = observed(3, 60, {"a": 0.0, "b": -0.5})
    perfect = [1.0 if arm == "a" else v for v, arm in zip(y, arms, strict=True)]
    found = compliance_model(perfect, arms, depths, cases, baseline="b")
    assert (found.terms, found.method) == ((), "refused: separation, arm a is at 100%")
    split = [float(d < 2) if a == "a" else v for v, a, d in zip(y, arms, depths, strict=True)]
    found = compliance_model(split, arms, depths, cases, baseline="b")
    assert found.method.startswith("refused: separation, depth splits")


def test_other_refusals() -> None:
    y, arms, depths, cases = observed(4, 30, {"a": -0.3, "b": -0.5})
    flat = compliance_model(y, arms, [1.0] * len(y), cases, baseline="a")
    assert flat.method == "refused: one depth"
    few = compliance_model(y[:12], arms[:12], depths[:12], cases[:12], baseline="a")
    assert few.method == "refused: 6 cases, fewer than 10"
    with pytest.raises(ValueError, match="baseline"):
        compliance_model(y, arms, depths, cases, baseline="c")
    with pytest.raises(ValueError, match="differ in length"):
        compliance_model(y[1:], arms, depths, cases, baseline="a")
    with pytest.raises(ValueError, match="0 or 1"):
        compliance_model([0.5] * len(y), arms, depths, cases, baseline="a")
