"""Where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.text.sentences import sentence_ends, sentences


def test_figures_codes_and_titles_end_nothing() -> None:
    text = (
        "The estimate is $8,500.25 under 12 CFR 1002.9. UP-2. Deny if the ratio is above 43.0%; "
        "reason: obligations. Mr. Lee agreed. Exclusion 9 (amended 2026-02-01). Deny if so.\n"
        "Debt ratio: 33.4%"
    )
    assert sentences(text) == [
        "The estimate is $8,500.25 under 12 CFR 1002.9.",
        "UP-2. Deny if the ratio is above 43.0%; reason: obligations.",
        "Mr. Lee agreed.",
        "Exclusion 9 (amended 2026-02-01). Deny if so.",
        "Debt ratio: 33.4%",
    ]


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
def test_nothing_has_no_sentences(text: str) -> None:
    assert sentences(text) == []


def test_a_closing_quote_belongs_to_its_sentence() -> None:
    assert sentences('He said "Fine." Then he left.') == ['He said "Fine."', "Then he left."]


@given(st.text(alphabet='aB1. \n"%$-', max_size=120))
def test_sentences_hold_all_that_is_visible(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    ends = sentence_ends(text)
    assert all(a <= b for a, b in ends)
    assert list(ends) == sorted(ends)
