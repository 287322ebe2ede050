from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.statistics.multiplicity import holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(P_VALUES)
def test_holm_rejects_as_its_sequential_definition_does(p: list[float]) -> None:
    """Reject the smallest at alpha/m, the next at alpha/(m-1), and stop at the first failure."""
    adjusted = holm(p)
    for alpha in (0.01, 0.05, 0.3):
        rejected: set[int] = set()
        for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
            if p[i] * (len(p) - step) > alpha:
                break
            rejected.add(i)
        assert rejected == {i for i, value in enumerate(adjusted) if value <= alpha}


@given(P_VALUES)
def test_adjusted_keeps_the_order_and_is_never_below_raw(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(raw * (1 - 1e-12) <= new <= 1 for raw, new in zip(p, adjusted, strict=True))
    ranked = [new for _, new in sorted(zip(p, adjusted, strict=True))]
    assert ranked == sorted(ranked)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        holm([0.5, wrong])
