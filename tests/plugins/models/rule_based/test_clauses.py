from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.models.rule_based.clauses import Clause, clauses_in, known_clauses

DOCS = Path(__file__).resolve().parents[4] / "docs" / "reference" / "improve-grammar.md"


def keys(instruction: str, question: str = "", operation: str = "answer_from_sessions") -> set[str]:
    return set(clauses_in(instruction, operation).in_force(question))


def text(key: str) -> str:
    return next(c.text for c in known_clauses() if c.key == key)


@pytest.mark.parametrize("clause", known_clauses(), ids=lambda c: c.key)
def test_each_clause_is_found_however_it_is_set(clause: Clause) -> None:
    for wording in (
        clause.text,
        clause.text.upper(),
        f"Answer the question.\n- {clause.text}",
        f"Guidance:\n3. {clause.text} Thank you.",
        'If the question contains "how", ' + clause.text[0].lower() + clause.text[1:],
    ):
        assert keys(wording, "How so?", clause.operation) == {clause.key}


@pytest.mark.parametrize("clause", known_clauses(), ids=lambda c: c.key)
def test_a_clause_belongs_to_one_operation(clause: Clause) -> None:
    others = {c.operation for c in known_clauses()} - {clause.operation}
    assert all(not keys(clause.text, operation=other) for other in others)


@given(st.text(max_size=200))
def test_other_text_is_inert(noise: str) -> None:
    folded = noise.casefold()
    if not any(c.text.casefold().rstrip(".") in folded for c in known_clauses()):
        assert not keys(noise)


def test_a_clause_within_a_longer_sentence_is_inert() -> None:
    assert not keys("Perhaps " + text("latest"))
    assert not keys(text("latest").rstrip(".") + " or not.")


def test_of_one_family_the_later_holds() -> None:
    assert keys(f"{text('latest')} {text('earliest')}") == {"earliest"}
    assert keys(f"{text('earliest')}\n{text('latest')}") == {"latest"}
    assert keys(f"{text('abstain')}\n{text('latest')}") == {"abstain", "latest"}


def test_a_condition_looks_at_the_question() -> None:
    when = f'If the question contains "total" or "sum", {text("latest")}'
    unless = f'If the question does not contain "total", {text("latest")}'
    assert keys(when, "What is the SUM?") == {"latest"}
    assert keys(when, "What is it?") == set()
    assert keys(unless, "What is the total?") == set()
    assert keys(unless, "What is it?") == {"latest"}


def test_a_condition_that_fails_leaves_the_earlier_clause_of_the_family() -> None:
    both = f'{text("earliest")}\nIf the question contains "now", {text("latest")}'
    assert keys(both, "Where do I live now?") == {"latest"}
    assert keys(both, "Where did I live?") == {"earliest"}


def test_the_list_is_the_published_one() -> None:
    published = DOCS.read_text()
    for clause in known_clauses():
        assert f"| `{clause.key}` | {clause.family} | {clause.text} | " in published
    assert len({c.text.casefold() for c in known_clauses()}) == len(known_clauses())
