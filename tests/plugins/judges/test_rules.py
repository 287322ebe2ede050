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
        ("The DTI of 52.3% is not above 60%. Yet the DTI of 52.3% is above 43%.", True),
        ("", False),
    ],
)
def test_a_point_is_entailed_within_one_sentence(rationale: str, met: bool) -> None:
    (verdict,) = JUDGE.entail(rationale, [POINT], CLIENT)
    assert verdict.met is met
    assert verdict.id == "p"
    assert not met or verdict.evidence in rationale


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
    assert unmet == (False, r"not found: within 60\s+days")
    only_there = audit(item, decision="DENY", rationale="We declined.", notice="within 60 days")
    assert only_there[0] is False, "the applicant gets the notice alone"
    assert audit(item, decision="DENY", notice="within 60 days, by internal\nstandards") == (
        False,
        'forbidden: "internal standards"',
    )


def test_no_signature_of_a_judge_carries_the_arm() -> None:
    for method in (Judge.entail, Judge.audit):
        names = set(inspect.signature(method).parameters)
        assert names <= {"self", "rationale", "points", "answer", "standard", "client"}
