from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.drift import kept_a_link


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.integers(1, 8))
def test_geometric_decay_gives_its_rate(s0: float, rho: float, depth: int) -> None:
    assert kept_a_link([s0 * rho**k for k in range(depth + 1)]) == pytest.approx(rho)


def test_by_hand() -> None:
    assert kept_a_link([0.8, 0.4, 0.0]) == pytest.approx(0.4 / 1.2)
    assert kept_a_link([0.5, -0.25]) == -0.5


@pytest.mark.parametrize("similarity", [[], [0.9], [0.0, 0.5], [-0.1, 0.5]])
def test_without_similarity_before_the_end_nothing_is_kept_or_lost(similarity: list[float]) -> None:
    assert kept_a_link(similarity) is None
