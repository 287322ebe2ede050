"""Concluding from bounds against a declared smallest effect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.effects import against_smallest_effect


@pytest.mark.parametrize(
    ("low", "high", "effect", "verdict"),
    [
        (0.06, 0.2, 0.05, "more than the smallest effect"),
        (-0.2, -0.06, 0.05, "less than the smallest effect"),
        (-0.04, 0.04, 0.05, "equivalent"),
        (0.01, 0.04, 0.05, "equivalent"),
        (0.01, 0.2, 0.05, "more"),
        (-0.2, -0.01, 0.05, "less"),
        (-0.05, 0.04, 0.05, "undecided"),
        (-0.2, 0.2, 0.05, "undecided"),
        (0.06, 0.2, None, "more"),
        (-0.2, -0.06, None, "less"),
        (-0.001, 0.001, None, "undecided"),
        (0.0, 0.1, None, "undecided"),
        (None, 0.1, 0.05, "no bounds"),
        (0.1, None, None, "no bounds"),
    ],
)
def test_every_place_of_the_bounds(
    low: float | None, high: float | None, effect: float | None, verdict: str
) -> None:
    assert against_smallest_effect(low, high, effect) == verdict


TURNED = {
    "more than the smallest effect": "less than the smallest effect",
    "less than the smallest effect": "more than the smallest effect",
    "more": "less",
    "less": "more",
}


@given(
    st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    st.one_of(st.none(), st.floats(0.01, 0.5)),
)
def test_the_other_way_round_says_the_opposite(bounds: list[float], effect: float | None) -> None:
    low, high = bounds
    verdict = against_smallest_effect(low, high, effect)
    assert against_smallest_effect(-high, -low, effect) == TURNED.get(verdict, verdict)


@pytest.mark.parametrize("effect", [0.0, -0.1, float("nan")])
def test_an_effect_is_above_0(effect: float) -> None:
    with pytest.raises(ValueError, match="above 0 expected"):
        against_smallest_effect(0.0, 0.1, effect)
