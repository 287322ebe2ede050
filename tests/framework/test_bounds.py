"""Bounds that settings declare, checked when the settings are made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest

from framework.bounds import Bound, Bounded, above, at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class Base(Bounded):
    k: Annotated[int, at_least(1)] = 5
    share: Annotated[float | None, above(0, below=1)] = None
    weights: Annotated[Mapping[str, float], at_least(0, most=1)] = field(default_factory=dict)
    depths: Annotated[tuple[int, ...], at_least(1, most=8)] = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Further(Base):
    decay: Annotated[float, at_least(0)] = 0.0
    free: float = -1.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 0}, "k: 0 given, at least 1 expected"),
        ({"share": 1.0}, "share: 1.0 given, above 0 and below 1 expected, or null"),
        ({"share": math.nan}, "share: nan given"),
        ({"weights": {"a": 0.5, "b": 1.5}}, "weights.b: 1.5 given, 0 to 1 expected"),
        ({"depths": (1, 9)}, "depths: 9 given, 1 to 8 expected"),
        ({"decay": -0.5}, "decay: -0.5 given, 0 or more expected"),
    ],
)
def test_a_value_outside_is_told_with_its_bound(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011
        Further(**values)
    assert str(error.value).startswith(message)


def test_values_inside_and_null_are_taken() -> None:
    made = Further(k=1, share=None, weights={"a": 0.0, "b": 1.0}, depths=(), free=-9.0)
    assert (made.k, made.share) == (1, None)
    assert Base(share=0.5).share == 0.5


@pytest.mark.parametrize(
    ("bound", "inside", "outside", "said"),
    [
        (at_least(2), (2, 3), (1, math.nan), "at least 2"),
        (at_least(0), (0,), (-1,), "0 or more"),
        (at_least(0, most=0.95), (0, 0.95), (0.96,), "0 to 0.95"),
        (at_least(0, below=1), (0,), (1,), "at least 0 and below 1"),
        (above(0, most=1), (0.1, 1), (0,), "above 0 and at most 1"),
        (above(0), (0.1,), (0,), "above 0"),
    ],
)
def test_what_a_bound_holds(
    bound: Bound, inside: tuple[float, ...], outside: tuple[float, ...], said: str
) -> None:
    assert all(value in bound for value in inside)
    assert not any(value in bound for value in outside)
    assert str(bound) == said
