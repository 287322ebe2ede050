from __future__ import annotations

import inspect
from typing import cast

import pytest

from framework.contracts import Client, Judge
from framework.records import Answer, ChecklistItem, ReasoningPoint, Standard
from framework.registry import NoSettings
from plugins.judges.rules import Rules

JUDGE = Rules(NoSettings())
CLIENT = cast(Client, None)
POINT = ReasoningPoint(
    id="p",
    text="The ratio is above the limit.",
    requires=(("52.3%",), ("above", "exceeds"), ("debt ratio", "DTI")),
    forbids=("not above",),
)


@pytest.mark.parametrize(
    ("rationale", "met"),
    [
        ("First. The DTI of 52.3 percent exceeds 43%. Last.", True),
        ("the debt ratio (52.30%) is ABOVE it", True),
        ("The DTI is 52.3%. It is above the limit.", False),
        ("The DTI of 52.3% is not above 60%.", False),
        ("The DTI of 152.3% is above 43%.", False),
        ("The DTI of 52.3% is aboveboard.", False),
        ("The DTI of 52.3% is not above it. Yet the DTI of 52.3% is above 43%.", False),
        ("", False),
    ],
)
def test_a_point_is_entailed_within_one_sentence(rationale: str, met: bool) -> None:
    (verdict,) = JUDGE.entail(rationale, [POINT], CLIENT)
    assert verdict.met is met
    assert verdict.id == "p"
    assert not met or verdict.evidence in rationale


COMPARED = ReasoningPoint(
    id="c",
    text="The DTI of 52.3% is above the 43% of UP-4.",
    requires=(("DTI", "debt-to-income ratio"), ("52.3%",), ("43%", "43 percent", "UP-4")),
    forbids=("is not above",),
    relation=">",
)
LISTED = "DTI, credit score, 52.3%, 610, 43%, 640, UP-4, UP-1."


@pytest.mark.parametrize(
    ("rationale", "met"),
    [
        ("The DTI is 52.3%, which is above the 43% of UP-4.", True),
        ("The DTI is 52.3%, which is above the threshold of UP-4.", True),
        ("At 52.3 percent, the debt-to-income ratio exceeds the limit of 43% (UP-4).", True),
        ("A DTI of 52.3% is higher than 43%, so UP-4 denies.", True),
        ("The 43% limit of UP-4 is exceeded by the DTI of 52.3%.", True),
        ("UP-4's 43% is below the DTI of 52.3%.", True),
        ("The DTI of 52.3% is not at or below the 43% of UP-4.", True),
        (
            "The score is 610, which is below the 640 of UP-1 and the DTI is 52.3%, which is above "
            "the 43% of UP-4.",
            True,
        ),
        ("A DTI of 52.3% is not above the 60% of UP-9, but the DTI of 52.3% is above 43%.", True),
        # Neither figures side by side nor a list of the words that compare is a comparison.
        ("The DTI is 52.3%. The limit of UP-4 is 43%.", False),
        (LISTED, False),
        (LISTED + " Above, below, at or above, at or below.", False),
        ("The DTI, 52.3%, above, below, 43%, UP-4.", False),
        ("The DTI of 52.3% is below, at, or above the 43% of UP-4.", False),
        # The other way, both ways, or perhaps.
        ("The DTI of 52.3% does not exceed the 43% of UP-4.", False),
        ("The DTI of 52.3% is within the 43% of UP-4.", False),
        (
            "The DTI of 52.3% is above the 43% of UP-4. Then the DTI of 52.3% is not above "
            "the 43% of UP-4.",
            False,
        ),
        ("The DTI of 52.3% is above and not above the 43% of UP-4.", False),
        ("The DTI of 52.3% may or may not be above the 43% of UP-4.", False),
        ("Perhaps the DTI of 52.3% is above the 43% of UP-4.", False),
        ("Deny if the DTI of 52.3% is above the 43% of UP-4.", False),
        ("Is the DTI of 52.3% above the 43% of UP-4?", False),
        # Of another value, another threshold, another fact.
        ("The DTI of 41.0% is above the 43% of UP-4.", False),
        ("The DTI of 52.3% is above the 50% of UP-4.", False),
        ("The LTV of 52.3% is above the 43% of UP-4.", False),
    ],
)
def test_a_comparison_is_stated_only_in_words_that_compare(rationale: str, met: bool) -> None:
    (verdict,) = JUDGE.entail(rationale, [COMPARED], CLIENT)
    assert verdict.met is met, verdict.evidence


@pytest.mark.parametrize(
    ("rationale", "met"),
    [
        ("The type is condo, which is not one of duplex, log home or villa under UP-5.", True),
        ("The type is condo, none of the duplex, log home or villa of UP-5.", True),
        ("The type is condo, which is one of duplex, log home or villa under UP-5.", False),
        ("The type is condo. UP-5 lists duplex, log home or villa.", False),
    ],
)
def test_a_list_is_compared_with_as_a_threshold_is(rationale: str, met: bool) -> None:
    point = ReasoningPoint(
        id="l",
        text="The type of condo is not one of the duplex, log home or villa of UP-5.",
        requires=(("type",), ("condo",), ("duplex, log home or villa", "UP-5")),
        relation="not in",
    )
    (verdict,) = JUDGE.entail(rationale, [point], CLIENT)
    assert verdict.met is met, verdict.evidence


def audit(item: ChecklistItem, **parts: str) -> tuple[bool, str]:
    standard = Standard(name="s", question="q", items=(item,))
    (verdict,) = JUDGE.audit(Answer(**parts), standard, CLIENT)
    return verdict.met, verdict.evidence


def test_an_item_needs_each_group_and_nothing_forbidden() -> None:
    item = ChecklistItem(
        id="i",
        text="reasons",
        citation="(b)(2)",
        requires=((r"action: deny", r"we declined"), (r"within 60\s+days",)),
        forbids=(r"internal\s+standards",),
    )
    met = audit(item, notice="Action: deny. Ask us within\n 60 days.")
    assert met == (True, '"Action: deny", "within 60 days"')
    assert audit(item, notice="Ask us within 60 days.")[0] is False
    unmet = audit(item, notice="We declined. Ask within 30 days.")
    assert unmet == (False, "not found: within 60 days")
    only_there = audit(item, decision="DENY", rationale="We declined.", notice="within 60 days")
    assert only_there[0] is False, "the applicant gets the notice alone"
    assert audit(item, decision="DENY", notice="within 60 days, by internal\nstandards") == (
        False,
        'forbidden: "internal standards"',
    )


@pytest.mark.parametrize(
    ("notice", "met"),
    [
        ("Reasons: the loan is not affordable. Rule 2. Deny: the loan is not affordable.", True),
        ("The loan is not affordable: it is not affordable at your income.", True),
        ("The loan is affordable.", False),
    ],
)
def test_a_required_not_is_no_denial(notice: str, met: bool) -> None:
    item = ChecklistItem(
        id="i", text="t", citation="c", requires=((r"loan\W+is\W+not affordable",),)
    )
    assert audit(item, notice=notice)[0] is met


def test_a_not_of_one_reason_denies_no_other() -> None:
    groups = ((r"employment\s+verified",), (r"income\s+could\s+not\s+be\s+verified",))
    item = ChecklistItem(id="i", text="t", citation="c", requires=groups)
    notice = "Reasons: employment verified; income could not be verified."
    assert audit(item, notice=notice)[0] is True
    denied = audit(item, notice=f"{notice} The employment was not verified.")
    assert denied == (False, 'denied: "not verified"')


def test_no_signature_of_a_judge_carries_the_arm() -> None:
    for method in (Judge.entail, Judge.audit):
        names = set(inspect.signature(method).parameters)
        assert names <= {"self", "rationale", "points", "answer", "standard", "client"}
