"""Gwet's AC1 by hand, and the laws it obeys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.agreement import cohens_kappa
from plugins.recipes.regimes.labels import gwets_ac1


def test_ac1_stays_where_kappa_falls_with_a_skewed_label() -> None:
    """118 times yes and yes, 5 and 2 apart, never no and no: by hand."""
    a = ["yes"] * 118 + ["yes"] * 5 + ["no"] * 2
    b = ["yes"] * 118 + ["no"] * 5 + ["yes"] * 2
    share = (123 + 120) / 250
    expected = 2 * share * (1 - share)
    assert gwets_ac1(a, b, 2) == pytest.approx((118 / 125 - expected) / (1 - expected))
    assert gwets_ac1(a, b, 2) == pytest.approx(0.941, abs=5e-4)
    kappa = cohens_kappa(a, b)
    assert kappa is not None
    assert kappa < 0
    assert gwets_ac1(a, b, 7) > gwets_ac1(a, b, 2), "chance is less where more can be said"
    assert gwets_ac1(["x"], ["x"], 2) == 1.0
    for categories in (1, 0):
        with pytest.raises(ValueError, match="categories"):
            gwets_ac1(a, b, categories)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_ac1_is_symmetric_and_1_for_those_who_agree(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assert gwets_ac1(a, b, 4) == pytest.approx(gwets_ac1(b, a, 4))
    assert gwets_ac1(a, b, 4) <= gwets_ac1(a, a, 4) == pytest.approx(1.0)
