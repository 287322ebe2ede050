"""Decay laws: recovered from their own curves, and told apart only where the depths allow it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.recipes.depth._decay import LAWS, Measured, fit_decay, fit_decays, weights

CURVES = {
    "constant": {"s0": 0.8},
    "geometric": {"s0": 0.95, "rho": 0.75},
    "triangular": {"s0": 0.98, "rho": 0.90},
    "stretched_exponential": {"s0": 0.95, "rate": 0.4, "beta": 0.5},
    "power_law": {"s0": 0.95, "alpha": 0.8},
}


def curve(name: str, depths: range, cases: int = 4000) -> list[Measured]:
    """The law's own recalls, without noise."""
    recalls = LAWS[name].recall(np.array(depths, dtype=float), **CURVES[name])
    pairs = zip(depths, recalls, strict=True)
    return [Measured(depth=d, recalled=r * cases, cases=cases) for d, r in pairs]


@pytest.mark.parametrize("name", CURVES)
def test_a_law_is_recovered_from_its_own_curve(name: str) -> None:
    fit = fit_decay(name, curve(name, range(1, 9)))
    assert fit.parameters == pytest.approx(CURVES[name], abs=0.01)
    assert fit.error < 1e-3
    assert fit.held_out_error < 0.01
    assert fit.extrapolated_error is not None
    assert fit.extrapolated_error < 0.02


@pytest.mark.parametrize("name", CURVES)
def test_eight_depths_choose_the_law_that_made_them(name: str) -> None:
    assert fit_decays(curve(name, range(1, 9)))[0].law == name


def test_three_depths_cannot_choose() -> None:
    fits = {fit.law: fit for fit in fit_decays(curve("triangular", range(1, 4)))}
    two = ("geometric", "triangular", "power_law", "stretched_exponential")
    assert all(fits[name].aicc == math.inf for name in two)
    assert fits["triangular"].extrapolated_error is None


def test_weights_are_shares_of_the_support() -> None:
    fits = fit_decays(curve("geometric", range(1, 9), cases=40))
    found = weights(fits)
    assert math.fsum(share for share in found if share is not None) == pytest.approx(1)
    assert found[0] == max(share for share in found if share is not None)
    first, second = found[:2]
    assert first is not None
    assert second is not None
    assert second / first == pytest.approx(math.exp((fits[0].aicc - fits[1].aicc) / 2))
    assert weights(fit_decays(curve("geometric", range(1, 5)))) == (None,) * len(LAWS)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=2, max_size=8))
def test_every_law_stays_a_recall_and_fits_no_worse_than_a_constant(hits: list[int]) -> None:
    points = [Measured(depth=d, recalled=h, cases=40) for d, h in enumerate(hits, start=1)]
    flat = fit_decay("constant", points).log_likelihood
    for name, law in LAWS.items():
        fit = fit_decay(name, points)
        recalls = law.recall(np.arange(1.0, 20.0), *fit.parameters.values())
        assert ((recalls >= 0) & (recalls <= 1)).all()
        if name != "triangular":  # the only one that no parameter makes flat below 1
            assert fit.log_likelihood >= flat - 1e-3


@pytest.mark.parametrize(
    "points",
    [
        [Measured(depth=1, recalled=1, cases=2)],
        [Measured(depth=1, recalled=1, cases=2)] * 2,
        [Measured(depth=0, recalled=1, cases=2), Measured(depth=1, recalled=1, cases=2)],
        [Measured(depth=1, recalled=3, cases=2), Measured(depth=2, recalled=1, cases=2)],
    ],
)
def test_what_can_not_be_fitted_is_refused(points: list[Measured]) -> None:
    with pytest.raises(ValueError, match="expected"):
        fit_decay("geometric", points)
