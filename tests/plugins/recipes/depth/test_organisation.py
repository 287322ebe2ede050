"""Scatter is counted in what stores keep apart."""

from __future__ import annotations

import pytest

from plugins.recipes.depth.organisation import fewest, fitted, scattered


def held(*pieces: str) -> list[frozenset[str]]:
    return [frozenset(piece) for piece in pieces]


def test_the_fewest_pieces_are_counted_that_hold_all_that_is_held() -> None:
    assert fewest([]) == fewest(held("", "")) == 0
    assert fewest(held("a", "b", "ab", "a")) == 1
    assert fewest(held("a", "b", "c", "")) == 3
    # With the largest piece first it would be three.
    assert fewest(held("bcde", "abc", "def")) == 2


def test_sigma_is_of_what_a_store_holds_and_the_share_of_what_it_should() -> None:
    needed = {"one": ("A.", "B.", "C."), "two": ("D.",)}
    apart = {"1": "A. x", "2": "y B.", "3": "C."}
    assert scattered(needed, {"one": apart, "two": {"4": "D. A."}}) == (2.0, 1.0)
    # What is dropped scatters nothing, and a case of which nothing is held has no sigma.
    sigma, share = scattered(needed, {"one": {"summary": "A. C."}, "two": {}})
    assert sigma == 1.0
    assert share == pytest.approx(1 / 3)
    assert scattered(needed, {"one": {}, "two": {}}) == (None, 0.0)


def test_p_is_found_again() -> None:
    p, error, printed = fitted([(sigma, 0.6**sigma) for sigma in (1.0, 2.0, 4.0)])
    assert p == pytest.approx(0.6, abs=0.001)
    assert error < 0.002
    assert printed == pytest.approx(0.477, abs=0.001)
