"""One of something is not told in the plural."""

from __future__ import annotations

import pytest

from framework.text.counting import counted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0, "case"), "0 cases"),
        ((1, "case"), "1 case"),
        (("1", "case"), "1 case"),
        (("12, 24", "case"), "12, 24 cases"),
        ((1, "job of the sweep"), "1 job of the sweep"),
        ((2, "paired comparison"), "2 paired comparisons"),
        ((1234, "token", ","), "1,234 tokens"),
    ],
)
def test_a_noun_has_the_number_of_what_it_counts(given: tuple[int, str], said: str) -> None:
    assert counted(*given) == said
