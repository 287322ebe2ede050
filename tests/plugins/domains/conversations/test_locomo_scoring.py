"""The published score of LoCoMo, on values computed by hand from its evaluation script."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from framework.errors import UserError
from framework.records import ABSTAIN, Answer, Gold
from framework.registry import NoSettings
from plugins.domains.conversations.locomo_scoring import LoCoMoPublished
from tests.plugins.axes.helpers import score, scored


def published(kind: str, expected: str, answer: Answer | str) -> dict[str, float | None]:
    of = scored(Answer(text=answer) if isinstance(answer, str) else answer)
    gold = Gold(answer=expected, answer_kind=kind)
    return dict(score("locomo_published", replace(of, case=replace(of.case, gold=gold))).values)


@pytest.mark.parametrize(
    ("kind", "expected", "given", "f1", "precision"),
    [
        # wilma, heron against wilma: precision 1/2, recall 1.
        ("single-hop", "Wilma", "Wilma, the heron!", 2 / 3, 1 / 2),
        # she, adopt, two, cat against adopt, cat, cat: 2 shared; precision 2/4, recall 2/3.
        ("single-hop", "adopting a cat and cats", "She adopted two cats", 4 / 7, 1 / 2),
        ("single-hop", "the salt and the pepper", "Salt; pepper.", 1.0, 1.0),
        # A semicolon ends the gold of an open question alone: yes, be, glad of 3 and of 1 word.
        ("single-hop", "Yes; being glad", "yes", 1 / 2, 1.0),
        ("open-domain", "Yes; being glad", "yes", 1.0, 1.0),
        ("open-domain", "Yes; being glad", "glad", 0.0, 0.0),
        # Commas go before words are told apart: 1000 and 1000.
        ("temporal", "1,000 days", "1000 days ago", 4 / 5, 2 / 3),
        ("temporal", "7 May 2023", "on 8 May 2023", 4 / 7, 1 / 2),
        # No part of the multi-hop answer has the kayak; cello is found whole: (0 + 1) / 2.
        ("multi-hop", "a kayak, a cello", "the cellos, canoes", 1 / 2, 1 / 2),
        # One part of two words against each part of one: 2/3 twice.
        ("multi-hop", "a kayak, a cello", "a cello and a kayak", 2 / 3, 1.0),
        # Parts too many cost nothing but precision, as published.
        ("multi-hop", "a kayak, a cello", "tent, cello, kayak, oar", 1.0, 1 / 2),
        ("single-hop", "a kayak, a cello", "tent, cello, kayak, oar", 2 / 3, 1 / 2),
        ("single-hop", "Wilma", "", 0.0, None),
        ("multi-hop", "Wilma", "", 0.0, None),
        # Two texts without any word are no match, as in the script.
        ("single-hop", "The", "a", 0.0, None),
    ],
)
def test_the_published_score(
    kind: str, expected: str, given: str, f1: float, precision: float | None
) -> None:
    found = published(kind, expected, given)
    assert found["locomo_f1"] == pytest.approx(f1, abs=1e-9)
    assert found["locomo_precision"] == (None if precision is None else pytest.approx(precision))


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("No information available", 1.0),
        ("That is NOT MENTIONED in the conversation.", 1.0),
        ("Nothing is mentioned", 0.0),
        ("Wilma", 0.0),
        ("", 0.0),
        (Answer(decision=ABSTAIN), 1.0),
    ],
)
def test_an_adversarial_question_wants_one_of_two_phrases(
    given: Answer | str, right: float
) -> None:
    found = published("adversarial", "No information available", given)
    assert found == {"locomo_f1": right, "locomo_precision": None}


def test_an_abstention_from_a_question_that_has_an_answer_is_scored_by_its_words() -> None:
    said = Answer(decision=ABSTAIN, text="No information available")
    assert published("single-hop", "Wilma", said)["locomo_f1"] == 0.0


@pytest.mark.parametrize("kind", ["", "answer", "temporal-reasoning", "abstention"])
def test_a_case_of_another_benchmark_has_no_value(kind: str) -> None:
    assert published(kind, "Wilma", "Wilma") == {"locomo_f1": None, "locomo_precision": None}


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        *(("running", "run"), ("happiness", "happi"), ("relational", "relat")),
        # Where NLTK's default differs: try, enjoy, news, hope, is, emot.
        *(("trying", "try"), ("enjoyed", "enjoi"), ("news", "new"), ("hopefully", "hopefulli")),
        *(("is", "i"), ("emotionally", "emotion")),
    ],
)
def test_the_stems_are_porter_s_of_1980(word: str, stem: str) -> None:
    assert LoCoMoPublished(NoSettings())._stems(word) == [stem]


def test_without_the_stemmer_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(UserError, match=r"pip install 'decisionbench\[locomo\]'"):
        LoCoMoPublished(NoSettings())
