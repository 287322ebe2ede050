from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.ratios import ratio_of_means, ratio_of_rates


def test_delta_method_against_a_bootstrap() -> None:
    rng = np.random.default_rng(1)
    kept = (rng.random(400) < 0.7).astype(float)
    used = kept * (rng.random(400) < 0.8)
    found = ratio_of_means(used, kept)
    drawn = rng.integers(0, 400, size=(4000, 400))
    spread = (used[drawn].mean(axis=1) / kept[drawn].mean(axis=1)).std()
    assert found.value == pytest.approx(used.sum() / kept.sum())
    assert found.se == pytest.approx(spread, rel=0.05)
    assert found.method == "delta method"


def test_covariance_narrows_what_independence_leaves_wide() -> None:
    rng = np.random.default_rng(2)
    kept = (rng.random(300) < 0.6).astype(float)
    used = kept * (rng.random(300) < 0.9)
    paired = ratio_of_means(used, kept)
    apart = ratio_of_rates(int(used.sum()), 300, int(kept.sum()), 300)
    assert paired.value == pytest.approx(apart.value or 0)
    assert (paired.se or 0) < (apart.se or 0)


def test_the_use_factor_of_the_depth_paper() -> None:
    """Section 7.1 (d): .703; its s.e. of .085 is not what its formula gives, .092."""
    found = ratio_of_rates(45, 96, 64, 96)
    assert found.value == pytest.approx(0.703, abs=5e-4)
    assert found.se == pytest.approx(0.0917, abs=5e-4)


@pytest.mark.parametrize(
    ("numerator", "denominator", "method"),
    [
        ([], [], "undefined: no cases"),
        ([None, 1.0], [1.0, None], "undefined: no cases"),
        ([1.0] * 12, [0.0] * 12, "undefined: the denominator is 0"),
        ([1.0, 0.0], [1.0, 1.0], "no interval: 2 units, fewer than 10"),
        ([0.5] * 12, [1.0] * 12, "no interval: numerator and denominator are proportional"),
    ],
)
def test_refusals(
    numerator: list[float | None], denominator: list[float | None], method: str
) -> None:
    found = ratio_of_means(numerator, denominator)
    assert (found.low, found.high, found.method) == (None, None, method)


def test_refusals_of_rates() -> None:
    assert ratio_of_rates(1, 5, 0, 5).method == "undefined: the denominator is 0"
    assert ratio_of_rates(0, 5, 1, 5).method == "no interval: the numerator is 0"
    assert ratio_of_rates(5, 5, 5, 5).method == "no interval: both rates are 1"
    assert ratio_of_rates(0, 0, 0, 0).value is None
    with pytest.raises(ValueError, match="6 successes of 5"):
        ratio_of_rates(6, 5, 1, 5)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 1)), min_size=10, max_size=30))
def test_scale_and_order_do_not_matter(pairs: list[tuple[float, float]]) -> None:
    top, bottom = (np.array(v) for v in zip(*pairs, strict=True))
    found = ratio_of_means(top, bottom)
    other = ratio_of_means(3 * top[::-1], 3 * bottom[::-1])
    assert other.value == pytest.approx(found.value)
    if found.se is not None and found.se > 1e-9:
        assert other.se == pytest.approx(found.se)
