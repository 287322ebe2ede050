"""What to search for next: words of what was read that no query holds, or none."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import answer_by_rule
from framework.operations.next_query import NextQuery, NextQueryRequest
from plugins.models.rule_based.memory.lexical import words_of


def request(*passages: str, asked: tuple[str, ...] = ("reports page",)) -> NextQueryRequest:
    return NextQueryRequest(instruction="Do it.", asked=asked, passages=passages)


def proposed(*passages: str, asked: tuple[str, ...] = ("reports page",)) -> str:
    return answer_by_rule(NextQuery(), request(*passages, asked=asked)).query


def test_words_that_few_passages_hold_and_the_first_ones_lead() -> None:
    found = proposed("The reports page views a warehouse.", "A canteen views a long menu.").split()
    weights = {
        "views": (1 / 4 + 1 / 8) * math.log(2),
        "warehouse": 1 / 4 * math.log(3),
        **dict.fromkeys(("canteen", "long", "menu"), 1 / 8 * math.log(3)),
    }
    assert found == sorted(weights, key=lambda word: -weights[word])
    assert found[0] == "warehouse"


def test_it_stops_when_no_word_is_new() -> None:
    assert proposed() == ""
    assert proposed("Page reports, 2026-03-01, 61,000 of a 12.") == ""
    assert proposed("The warehouse", asked=("reports page", "warehouse")) == ""


@given(st.lists(st.text(max_size=40), max_size=6), st.lists(st.text(max_size=20), max_size=3))
def test_it_never_repeats_a_word_and_says_the_same_again(
    passages: list[str], asked: list[str]
) -> None:
    query = proposed(*passages, asked=tuple(asked))
    words = query.split()
    assert len(words) == len(set(words)) <= 6
    assert not set(words) & {word for text in asked for word in words_of(text)}
    assert proposed(*passages, asked=tuple(asked)) == query
    response = answer_by_rule(NextQuery(), request(*passages, asked=tuple(asked)))
    assert NextQuery().parse(NextQuery().render(response), request(*passages)) == response


def test_the_prompt_holds_what_was_asked_and_read() -> None:
    prompt = NextQuery().prompt(request("One.", "Two.", asked=("first", "second")))
    assert "1. first\n2. second" in prompt.user
    assert "<passage>\nTwo.\n</passage>" in prompt.user


@pytest.mark.parametrize("answer", ["{}", '{"query": 3}', '{"query": "a", "why": "b"}', "no"])
def test_an_answer_that_is_none_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        NextQuery().parse(answer, request())


def test_white_space_of_a_proposal_is_closed_up() -> None:
    assert NextQuery().parse(json.dumps({"query": " a \n b "}), request()).query == "a b"
