"""Guessing arms by wording: certain where they differ, at chance where they don't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.judging.style import guess_arms

Answers = list[tuple[str, str, str]]


def answers(n: int, **wording: str) -> Answers:
    return [(f"c{i}", arm, text.format(i=i)) for i in range(n) for arm, text in wording.items()]


def test_a_telling_phrase_is_found() -> None:
    guess = guess_arms(answers(20, a="Figure {i}. So be it.", b="Figure {i}. Thus it is."), 0)
    assert guess.accuracy == 1.0
    assert guess.above_chance is True
    assert (guess.chance, guess.n_answers, guess.n_cases) == (0.5, 40, 20)


def test_the_same_words_tell_nothing() -> None:
    same = guess_arms(answers(20, a="Figure {i}.", b="Figure {i}.", c="Figure {i}."), 0)
    assert same.accuracy == pytest.approx(1 / 3)
    assert same.above_chance is not True


def test_figures_are_masked() -> None:
    masked = guess_arms(answers(20, a="It is 11.", b="It is 77."), 0)
    assert masked.accuracy == pytest.approx(0.5)


def test_a_case_that_an_arm_did_not_answer_is_left_out() -> None:
    given_ = [*answers(6, a="x", b="y"), ("odd", "a", "x"), ("twice", "a", "x")]
    given_ += [("twice", "a", "x"), ("twice", "b", "y")]
    assert guess_arms(given_, 0).n_cases == 6


@given(st.permutations(answers(8, a="one {i} way", b="other {i} way")))
def test_the_order_of_answers_is_no_matter(shuffled: Answers) -> None:
    assert guess_arms(shuffled, 3) == guess_arms(sorted(shuffled), 3)


@pytest.mark.parametrize("given_", [[], answers(9, a="x"), answers(4, a="x", b="y")])
def test_too_little_to_learn_from(given_: Answers) -> None:
    with pytest.raises(ValueError, match="at least 2 and 5 expected"):
        guess_arms(given_, 0)
