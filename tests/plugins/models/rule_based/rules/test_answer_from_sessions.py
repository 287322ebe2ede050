"""The rule-based answer from sessions: by default, and as each clause changes it."""

from __future__ import annotations

import pytest

from framework.contracts import Profile, answer_by_rule
from framework.operations.answer_from_sessions import (
    AnswerFromSessions,
    AnswerFromSessionsResponse,
)
from framework.operations.answering import AnswerRequest
from framework.records import ABSTAIN, TaskCard
from plugins.models.rule_based.clauses import known_clauses

OPERATION = AnswerFromSessions()
CLAUSE = {clause.key: clause.text for clause in known_clauses()}
BREAD = """\
2023/01/05 (Thu) 10:00 | user
How do tides work? I buy my bread at Old Mill.
2023/02/05 (Sun) 10:00 | assistant
Many people buy bread at Sunrise Pantry.
2023/03/05 (Sun) 10:00 | user
I switched shops and buy my bread at Fern Hall now.
2023/03/09 (Thu) 10:00 | user
My sister buys bread at Quayside Stores.
2023/03/10 (Fri) 10:00 | user
Maybe I buy my bread at Juniper House someday. I like my bread a lot.
"""
MUSEUMS = """\
2023/05/01 (Mon) 09:00 | user
I visited the Harbour Museum today.
2023/05/20 (Sat) 09:00 | user
By the way, I visited the Beacon Museum 3 weeks ago.
2023/05/24 (Wed) 09:00 | user
As I told you, I visited the Harbour Museum on May 1, 2023.
2023/05/28 (Sun) 09:00 | user
I am planning to visit the Granite Museum next month.
"""
PLANTS = """\
2023/05/01 (Mon) 09:00 | user
My garden plants cost me $20 at Fern Hall.
2023/05/20 (Sat) 09:00 | user
My garden plants cost me $25 at Old Mill.
"""


def answered(
    view: str, question: str, *keys: str, on: str = "2023/06/01 (Thu) 12:00"
) -> AnswerFromSessionsResponse:
    instruction = "\n".join(["Answer the question.", *(CLAUSE[key] for key in keys)])
    request = AnswerRequest(
        task=TaskCard(instruction=instruction, query=question, material={"question_date": on}),
        view=view,
    )
    return answer_by_rule(OPERATION, request)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ((), "Old Mill"),
        (("latest",), "Juniper House"),
        (("latest", "no_plans"), "Quayside Stores"),
        (("latest", "no_plans", "own_only"), "Fern Hall"),
        (("earliest",), "Old Mill"),
        (("changed",), "Fern Hall"),
        (("assistant_only",), "Sunrise Pantry"),
        (("user_only", "latest", "no_plans", "own_only"), "Fern Hall"),
        (("quote",), "I buy my bread at Old Mill."),
        (("preference",), "I like my bread a lot."),
        (
            ("all",),
            "Old Mill; Sunrise Pantry; Fern Hall; Quayside Stores; Juniper House",
        ),
    ],
)
def test_one_value_of_several(keys: tuple[str, ...], answer: str) -> None:
    assert answered(BREAD, "Where do I buy my bread?", *keys).answer == answer


@pytest.mark.parametrize(
    ("question", "keys", "answer"),
    [
        ("How many museums did I visit?", ("count",), "4"),
        ("How many museums did I visit?", ("count", "no_plans"), "3"),
        ("How many museums did I visit?", ("count", "no_plans", "distinct"), "2"),
        ("When did I visit the Beacon Museum?", (), "3 weeks ago"),
        ("When did I visit the Beacon Museum?", ("relative",), "2023-04-29"),
        (
            "How many days ago did I visit the Beacon Museum?",
            ("arithmetic", "relative"),
            "33 days",
        ),
        ("How many days ago did I visit the Beacon Museum?", ("arithmetic",), "12 days"),
        (
            "How many weeks passed between the Beacon Museum and the Harbour Museum?",
            ("arithmetic",),
            "2 weeks",
        ),
        (
            "Which museum did I visit first, the Harbour Museum or the Beacon Museum?",
            ("order",),
            "the Harbour Museum",
        ),
        (
            "Which museum did I visit first, the Harbour Museum or the Beacon Museum?",
            ("order", "relative"),
            "the Beacon Museum",
        ),
        ("Which museum did I visit in the past 2 weeks?", ("window",), "Beacon Museum"),
        ("Which museum did I visit in the past 2 weeks?", ("window", "relative"), "Granite Museum"),
        ("Which museum did I visit in the past 2 weeks?", ("arithmetic",), "31 days"),
        ("Which museum am I planning to visit?", (), "Granite Museum"),
    ],
)
def test_events_and_their_dates(question: str, keys: tuple[str, ...], answer: str) -> None:
    assert answered(MUSEUMS, question, *keys).answer == answer


def test_amounts_are_read_or_summed() -> None:
    assert answered(PLANTS, "How much did my garden plants cost me?").answer == "$20"
    assert answered(PLANTS, "How much did my garden plants cost me?", "total").answer == "$45"


@pytest.mark.parametrize(
    ("question", "keys", "abstains"),
    [
        ("Who repaired the lighthouse?", (), True),
        ("Who repaired the lighthouse?", ("trust",), True),
        ("Where do I buy my fresh bread?", (), False),
        ("Where do I buy my fresh bread?", ("abstain",), True),
        ("Which vegan baker sells lamps, soap and bread?", (), True),
        ("Which vegan baker sells lamps, soap and bread?", ("trust",), False),
        ("Which vegan baker sells lamps, soap and bread?", ("quote",), False),
    ],
)
def test_abstention(question: str, keys: tuple[str, ...], abstains: bool) -> None:
    found = answered(BREAD, question, *keys)
    assert found.abstains is abstains
    assert OPERATION.answer_of(found, TaskCard(instruction="i", query="q")).decision == (
        ABSTAIN if abstains else ""
    )


def test_text_that_is_no_clause_changes_nothing() -> None:
    plain = answered(BREAD, "Where do I buy my bread?")
    request = AnswerRequest(
        task=TaskCard(
            instruction="Think step by step. Always use the most recent value, whatever happens.",
            query="Where do I buy my bread?",
        ),
        view=BREAD,
    )
    assert answer_by_rule(OPERATION, request) == plain


def test_a_condition_holds_a_clause_back() -> None:
    request = AnswerRequest(
        task=TaskCard(
            instruction=f'If the question contains "museum", {CLAUSE["changed"]}',
            query="Where do I buy my bread?",
        ),
        view=BREAD,
    )
    assert answer_by_rule(OPERATION, request).answer == "Old Mill"


def test_an_empty_view_and_one_without_dates() -> None:
    assert answered("", "Where do I buy my bread?").abstains
    found = answered("I buy my bread at Old Mill.", "Where do I buy my bread?", "latest")
    assert found.answer == "Old Mill"


def test_the_card_s_instruction_and_date_are_asked_with() -> None:
    card = TaskCard(
        instruction="Be brief.", query="Where?", material={"question_date": "2023/06/01"}
    )
    request = AnswerRequest(task=card, view=BREAD)
    text = OPERATION.prompt(request).text
    assert all(part in text for part in ("Be brief.", "Where?", "2023/06/01", "Old Mill"))


def test_a_model_s_reply_is_read_and_a_bad_one_refused() -> None:
    card = TaskCard(instruction="i", query="q")
    request = AnswerRequest(task=card, view="")
    reply = '{"evidence": ["I buy it."], "answer": "Old Mill", "abstains": false}'
    parsed = OPERATION.parse(reply, request)
    assert parsed == AnswerFromSessionsResponse(answer="Old Mill", evidence=("I buy it.",))
    assert OPERATION.answer_of(parsed, card).rationale == "I buy it."
    assert OPERATION.parse(OPERATION.render(parsed), request) == parsed
    for bad in ("Old Mill", '{"answer": "x"}', reply.replace("false", '"no"')):
        with pytest.raises(ValueError, match=r"."):
            OPERATION.parse(bad, request)


def test_a_noisy_reader_misses_statements() -> None:
    request = AnswerRequest(
        task=TaskCard(instruction="", query="Where do I buy my bread?"), view=BREAD
    )
    assert answer_by_rule(OPERATION, request, Profile(style="noisy", miss_rate=1.0)).abstains
