"""Each operator fires on its structure and on nothing that only sounds like it."""

from __future__ import annotations

import pytest

from framework.errors import UserError
from framework.records import ABSTAIN, Answer, Item, MemoryView, TaskCard
from framework.registry import find, plugins, settings_of
from framework.testing.arch_conformance import TASK, NoClient
from framework.testing.reader_conformance import (
    Profile,
    answer_of,
    check_reader,
    views,
)
from plugins.axes.operators import OPERATORS
from plugins.readers.commit import Commit
from plugins.readers.guarded import Guarded, GuardedSettings

VISITS = """\
2023/05/01 (Mon) 09:00 | user
I visited the Harbour Museum today.
2023/05/08 (Mon) 09:00 | user
As I told you, I visited the Harbour Museum a week ago.
2023/05/20 (Sat) 09:00 | user
I visited the Harbour Museum today. My sister visited the Old Museum today.
2023/05/28 (Sun) 09:00 | user
I am planning to visit the Granite Museum next month.
2023/05/30 (Tue) 09:00 | user
I took my road bike in for a service last Saturday."""
VALUES = """\
2023/01/05 (Thu) 10:00 | user
I buy my bread at Old Mill.
2023/03/05 (Sun) 10:00 | user
I buy my bread at Fern Hall.
2023/03/09 (Thu) 10:00 | user
My sister buys bread at Quayside Stores.
2023/03/10 (Fri) 10:00 | assistant
Many people buy bread at Sunrise Pantry."""
COUNT, CURRENT, ABSENCE, TIME, SPAN = OPERATORS


def acted(name: str, text: str, question: str, answer: Answer | None = None) -> str | None:
    """What the operator answers; None where its detector does not fire."""
    plugin = find("operator", name)
    operator = plugin.cls(settings_of(plugin, {}))
    task = TaskCard(
        instruction="Answer.",
        query=question,
        operation="answer_from_sessions",
        material={"question_date": "2023/06/01 (Thu) 12:00"},
    )
    view = MemoryView(items=(Item(id="a", text=text),), tokens=1, budget_tokens=None)
    given = answer or Answer(text="something")
    if not operator.detects(task, view, given):
        return None
    found: Answer = operator.act(task, view, given, NoClient())
    return ABSTAIN if found.decision == ABSTAIN else found.text


@pytest.mark.parametrize(
    ("name", "text", "question", "answer"),
    [
        # A restatement is one event with what it restates; a second visit is another.
        (COUNT, VISITS, "How many times did I visit a museum?", "2"),
        (COUNT, VISITS, "How many days ago did I visit the Harbour Museum?", None),
        (COUNT, VISITS, "Which museum did I visit?", None),
        (COUNT, f"{VISITS}\nThat makes 2 times I visited a museum.",
         "How many times did I visit a museum?", None),
        (COUNT, "2023/05/01 (Mon) 09:00 | user\nI own 7 stamps.", "How many stamps have I?", None),
        (CURRENT, VALUES, "Where do I buy my bread?", "Fern Hall"),
        (CURRENT, VALUES, "Where did I originally buy my bread?", None),
        (CURRENT, VALUES.split("\n2023/03/05")[0], "Where do I buy my bread?", None),
        (CURRENT, VISITS, "Which museum did I visit?", None),
        (TIME, VISITS, "When did I take my road bike in for a service?", "2023-05-27"),
        (TIME, VISITS, "How many days ago did I take my road bike in for a service?", "5 days"),
        # The regression of seed 7: an event in a window of time is no question for a date.
        (TIME, VISITS, "Which bike did I take in for a service the past weekend?", None),
        (TIME, VALUES, "When did I buy my bread?", None),
        (ABSENCE, VALUES, "Where do I buy my bread?", None),
        (ABSENCE, VALUES, "Who repaired the lighthouse?", ABSTAIN),
        (ABSENCE, VALUES, "Did I buy my bread at Hollis Corner?", ABSTAIN),
        (SPAN, VALUES, "Where do I buy my bread?", "I buy my bread at Old Mill."),
        (SPAN, VALUES.split("\n2023/03/05")[0], "Where do I buy my bread?", None),
        (SPAN, VALUES, "How many times do I buy my bread?", None),
    ],
)  # fmt: skip
def test_where_it_fires_and_what_it_answers(
    name: str, text: str, question: str, answer: str | None
) -> None:
    assert acted(name, text, question) == answer


def test_an_abstention_is_taken_back_where_there_is_evidence_and_left_where_there_is_none() -> None:
    abstained = Answer(text="not mentioned", decision=ABSTAIN)
    assert acted(ABSENCE, VALUES, "Where do I buy my bread?", abstained) == "Old Mill"
    assert acted(ABSENCE, VALUES, "Who repaired the lighthouse?", abstained) is None


def test_a_confidence_that_is_told_decides() -> None:
    one = VALUES.split("\n2023/03/05")[0]
    question = "Where do I buy my bread?"
    assert acted(SPAN, one, question, Answer(text="x", confidence=0.2)) is not None
    assert acted(SPAN, VALUES, question, Answer(text="x", confidence=0.9)) is None
    assert acted(SPAN, VALUES, question, Answer(decision=ABSTAIN)) is None


def test_all_five_of_the_paper_are_there() -> None:
    ours = [p.name for p in plugins("operator") if p.cls.__module__.startswith("plugins.models.")]
    assert sorted(OPERATORS) == ours


def test_without_operators_the_reader_is_commit() -> None:
    for view in views():
        plain = answer_of(Commit(settings_of(find("reader", "commit"), {})), TASK, view, Profile())
        assert answer_of(Guarded(GuardedSettings()), TASK, view, Profile()) == plain


def test_the_first_that_fires_answers_and_is_named() -> None:
    task = TaskCard(
        instruction="Answer.",
        query="Where do I buy my bread?",
        operation="answer_from_sessions",
    )
    view = MemoryView(items=(Item(id="a", text=VALUES),), tokens=1, budget_tokens=None)
    both = Guarded(GuardedSettings(operators=(COUNT, CURRENT, SPAN)))
    answer = answer_of(both, task, view, Profile())
    assert answer.text == "Fern Hall"
    assert answer.provisions == (f"operator:{CURRENT}",)


def test_the_laws_of_a_reader_hold_with_all_of_them_on() -> None:
    check_reader(Guarded, GuardedSettings(operators=OPERATORS))


def test_a_name_that_is_no_operator_s() -> None:
    with pytest.raises(UserError, match="operator: no plugin 'count'"):
        Guarded(GuardedSettings(operators=("count",)))
