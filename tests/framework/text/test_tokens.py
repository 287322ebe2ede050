"""The budget's unit."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from framework.text.tokens import count_tokens, truncate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("income", 1),
        ("Gross annual income: $147,500.", 9),
        ("counteroffer", 2),  # 12 letters: 8 and 4
        ("2026-03-12", 6),  # 202|6, -, 03, -, 12
        ("snake_case", 3),
        ("naïve café", 2),
    ],
)
def test_counts(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(), st.text())
def test_texts_joined_by_white_space_add_up(a: str, b: str) -> None:
    assert count_tokens(f"{a}\n{b}") == count_tokens(a) + count_tokens(b)


@given(st.text(alphabet="abcdefghijZ0123_-$ \t\n\x00\x0b\x1c\x1f\x7f"))
@example("a" * 8 + " " + "a" * 9 + "1" * 7 + "a" * 17)
def test_plain_text_is_counted_as_its_tokens_are(text: str) -> None:
    assert count_tokens(text) == len(re.findall(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]|_", text))


@given(st.text(alphabet="ab1$ .,\n", max_size=200), st.integers(0, 60), st.integers(0, 5))
def test_truncation_is_a_start_within_the_limit(text: str, limit: int, slack: int) -> None:
    cut = truncate(text, limit, slack)
    assert count_tokens(cut) <= limit
    assert text.startswith(cut)
    rest = text[len(cut) :]
    assert not cut or not rest or rest[0].isspace(), "cut inside a word"


def test_cuts_at_a_sentence_when_little_is_left_free() -> None:
    text = "One two three. Four five six seven."
    assert truncate(text, 5, slack=1) == "One two three."
    assert truncate(text, 6, slack=1) == "One two three. Four five"
