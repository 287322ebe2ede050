"""Entail, audit and equivalent: the rules, the forms, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from framework.contracts import Operation, answer_by_rule
from framework.operations.audit import Audit, AuditRequest
from framework.operations.entail import Entail, EntailRequest
from framework.operations.equivalent import Equivalent, EquivalentRequest
from framework.operations.prompted import PromptSet
from framework.records import ChecklistItem, ReasoningPoint

POINTS = (
    ReasoningPoint(id="p1", text="The score is low.", requires=(("610",), ("below",))),
    ReasoningPoint(id="p2", text="The DTI is high.", requires=(("52%",),), forbids=("not above",)),
)
ENTAIL = EntailRequest(
    rationale="The score of 610 is below 640. 52% is not above it.", points=POINTS
)
ITEMS = (
    ChecklistItem(id="i1", text="names the creditor", citation="(a)(2)", requires=(("Delta",),)),
    ChecklistItem(id="i2", text="no internal standards", citation="", forbids=("internal",)),
    ChecklistItem(id="i3", text="states 60 days", citation="", requires=((r"60\s+days",),)),
)
AUDIT = AuditRequest(
    decision="DENY",
    rationale="r",
    notice="Delta  Bank denies it by internal rules.",
    question="Does it comply?",
    items=ITEMS,
)


def test_entailment_by_rule() -> None:
    first, second = answer_by_rule(Entail(), ENTAIL)
    assert (first.id, first.met, first.quotes) == ("p1", True, ("The score of 610 is below 640.",))
    assert (second.met, second.why, second.quotes) == (False, "denied", ("52% is not above it.",))


def test_audit_by_rule() -> None:
    findings = answer_by_rule(Audit(), AUDIT)
    assert [(f.id, f.met, f.quotes, f.why) for f in findings] == [
        ("i1", True, ("Delta",), ""),
        ("i2", False, ("internal",), "forbidden"),
        ("i3", False, (), "not found: 60 days"),
    ]


@pytest.mark.parametrize(
    ("operation", "request_"), [(Entail(), ENTAIL), (Audit(), AUDIT)], ids=["entail", "audit"]
)
@pytest.mark.parametrize("rubric", ["", "paraphrase"])
def test_what_the_rules_say_can_be_read(
    operation: Operation[object, object], request_: object, rubric: str
) -> None:
    bound = PromptSet(rubric).bind(operation)
    response = answer_by_rule(bound, request_)
    assert bound.parse(bound.render(response), request_) == response
    text = bound.prompt(request_).text
    assert "p1" not in text.split()
    for shown in ("1. ", "2. "):
        assert shown in text


def test_numbers_are_whole_and_truth_is_truth() -> None:
    entry = {"number": 1, "quotes": [], "why": "", "met": True}
    other = {**entry, "number": 2}
    for broken in (
        {**entry, "number": True},
        {**entry, "number": "1"},
        {**entry, "met": "yes"},
        {**entry, "quotes": "score"},
        {**entry, "id": "p1"},
        {key: value for key, value in entry.items() if key != "why"},
    ):
        with pytest.raises(ValueError, match=r"."):
            Entail().parse(json.dumps({"verdicts": [broken, other]}), ENTAIL)
    # Numbers, not places, say which demand a verdict is on.
    turned = Entail().parse(json.dumps({"verdicts": [{**other, "met": False}, entry]}), ENTAIL)
    assert [(f.id, f.met) for f in turned] == [("p1", True), ("p2", False)]


def right(expected: str, given: str, kind: str = "answer") -> bool:
    request = EquivalentRequest(question="q", expected=expected, given=given, kind=kind)
    return answer_by_rule(Equivalent(), request).met


@pytest.mark.parametrize(
    ("expected", "given", "kind", "met"),
    [
        ("the Blue Door", "It was blue door, I think.", "answer", True),
        ("Blue Door", "The door was blue.", "answer", False),
        ("May 7, 2023", "On 7 May 2023.", "temporal", True),
        ("$1,500", "He paid 1,500 dollars.", "single-hop", True),
        ("18 days", "It took 19 days.", "temporal-reasoning", True),
        ("18 days", "It took 19 days.", "multi-session", False),
        ("18 days", "It took 20 days.", "temporal-reasoning", False),
        ("18 days", "It took 19 weeks.", "temporal-reasoning", False),
        ("Lisbon, Porto", "First Porto, then Lisbon.", "multi-hop", True),
        ("Lisbon, Porto", "Only Porto.", "multi-hop", False),
        ("yes; she likes it", "Yes.", "open-domain", True),
        ("Paris", "She moved from Rome to Paris.", "knowledge-update", True),
        ("no such trip", "There is no information available on that.", "adversarial", True),
        ("Rome", "Rome", "adversarial", False),
        ("never said", "I can't tell from the record.", "abstention", True),
        ("never said", "You said blue.", "unanswerable", False),
        ("suggests quiet jazz bars", "Try quiet jazz bars.", "single-session-preference", True),
        ("suggests quiet jazz bars", "Try a club.", "single-session-preference", False),
        ("Rome", "", "answer", False),
    ],
)
def test_equivalence_by_rule(expected: str, given: str, kind: str, met: bool) -> None:
    assert right(expected, given, kind) is met


def test_equivalence_is_read() -> None:
    request = EquivalentRequest(question="q", expected="e", given="g")
    response = answer_by_rule(Equivalent(), request)
    assert Equivalent().parse(Equivalent().render(response), request) == response
    with pytest.raises(ValueError, match="true or false"):
        Equivalent().parse('{"why": "", "met": "yes"}', request)


@pytest.mark.parametrize(
    ("expected", "given", "met"),
    [
        ("Lisbon; Porto", "Porto; Lisbon", True),
        ("Lisbon; Porto", "Porto", False),
        ("Lisbon; Porto", "Lisbon; Porto; Faro", False),
        ("Lisbon", "Lisbon; Porto", False),
        ("Lisbon", "It was Lisbon, which you saw in May; you liked it very much indeed.", True),
    ],
)
def test_to_name_every_candidate_is_no_answer(expected: str, given: str, met: bool) -> None:
    request = EquivalentRequest(
        question="Which cities?", expected=expected, given=given, kind="multi-session"
    )
    assert answer_by_rule(Equivalent(), request).met is met


@pytest.mark.parametrize(
    ("notice", "met"),
    [
        ("Your application is denied: score too low.", True),
        ("The application was denied. You may obtain a copy, which is not free.", True),
        ("Your application may or may not have been denied.", False),
        ("Possibly your application was denied.", False),
        ("Your application is denied. Your application is not denied.", False),
    ],
)
def test_a_notice_says_for_certain_what_was_decided(notice: str, met: bool) -> None:
    item = ChecklistItem(id="i", text="the action", citation="", requires=((r"denied",),))
    request = AuditRequest(decision="D", rationale="", notice=notice, question="?", items=(item,))
    assert answer_by_rule(Audit(), request)[0].met is met


@pytest.mark.parametrize(
    ("given", "met"),
    [
        ("Business Administration", True),
        ("You told me in May that your degree is in business administration.", True),
        ("It may be Business Administration, or it may be History.", False),
        ("It is Business Administration. It is not Business Administration.", False),
        ("Business Administration " + "and then we spoke of many other things " * 10, False),
    ],
)
def test_an_answer_commits_itself(given: str, met: bool) -> None:
    request = EquivalentRequest(
        question="Which degree?", expected="Business Administration", given=given, kind="answer"
    )
    assert answer_by_rule(Equivalent(), request).met is met


@pytest.mark.parametrize(
    "rationale",
    [
        "The score of 610 is below 640. 52% is n\u200bot above it.",
        "The score of 610 is below 640. 52% is not\u00ad above it.",
        "The score of 610 is below 640. \u2066That is untrue.\u2069 52% is above it.",
        "The score of 610 is below 640. No! 52% is above it.",
        "",
    ],
)
def test_no_invisible_character_and_no_second_sentence_hides_a_denial(rationale: str) -> None:
    verdicts = answer_by_rule(Entail(), EntailRequest(rationale=rationale, points=POINTS))
    assert not all(verdict.met for verdict in verdicts)


def test_an_invisible_character_hides_nothing_forbidden_in_a_notice() -> None:
    notice = "Delta Bank denies it by in\u200dternal rules; within 60\u00a0days."
    met = [found.met for found in answer_by_rule(Audit(), replace(AUDIT, notice=notice))]
    assert met == [True, False, True]
