from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.sections.reliability import reliability


def test_by_hand() -> None:
    found = reliability([0.95] * 4 + [0.15] * 6, [1, 1, 1, 0, 0, 0, 0, 0, 0, 1], seed=1)
    assert found.ece == pytest.approx(0.4 * 0.2 + 0.6 * abs(1 / 6 - 0.15))
    assert [(b.low, b.high, b.n) for b in found.bins] == [(0.1, 0.2, 6), (0.9, 1.0, 4)]
    assert found.bins[1].accuracy == 0.75
    assert found.brier == pytest.approx((3 * 0.05**2 + 0.95**2 + 5 * 0.15**2 + 0.85**2) / 10)


def test_a_calibrated_model_scores_what_chance_gives() -> None:
    rng = np.random.default_rng(1)
    stated = rng.random(500)
    found = reliability(stated, (rng.random(500) < stated).astype(float), seed=1)
    assert found.ece_by_chance is not None
    assert found.ece_by_chance > 0.02
    assert found.ece == pytest.approx(found.ece_by_chance, abs=0.03)
    sure = reliability(np.ones(500), (rng.random(500) < 0.6).astype(float), seed=1)
    assert sure.ece_low is not None
    assert sure.ece_low > 0.3
    assert sure.ece_by_chance == 0.0


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_laws(answers: list[tuple[float, bool]]) -> None:
    stated, right = ([float(v) for v in values] for values in zip(*answers, strict=True))
    found = reliability(stated, right, seed=1, resamples=200)
    turned = reliability(stated[::-1], right[::-1], seed=1, resamples=200)
    assert found.ece == pytest.approx(turned.ece, abs=1e-12)
    assert sum(b.n for b in found.bins) == found.n == len(answers)
    assert 0 <= (found.ece or 0) <= 1


def test_refusals() -> None:
    none = reliability([None, None], [1, 0], seed=1)
    assert (none.ece, none.n_undefined) == (None, 2)
    assert none.method == "undefined: no answer states a confidence"
    few = reliability([0.5, 0.7], [1, 0], seed=1)
    assert (few.ece_low, few.method) == (None, "no interval: 2 units, fewer than 10")
    with pytest.raises(ValueError, match="outside"):
        reliability([1.2], [1], seed=1)
    with pytest.raises(ValueError, match="0 or 1"):
        reliability([0.2], [0.5], seed=1)
