"""The readers commit or abstain as they promise."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from framework.contracts import Operation
from framework.operations.check_completeness import CompletenessResponse
from framework.operations.decide import UNDETERMINED, DecideResponse
from framework.records import ABSTAIN, Answer, FactField, Item, MemoryView, TaskCard
from framework.registry import NoSettings
from plugins.models.rule_based.model import RuleBased, RuleBasedSettings
from plugins.readers.commit import Commit
from plugins.readers.verified import Verified, VerifiedSettings

TASK = TaskCard(
    instruction="Decide.",
    query="What is decided?",
    decisions=("APPROVE", "DENY"),
    default_decision="APPROVE",
    verbs=MappingProxyType({"APPROVE": "approve", "DENY": "deny", "ABSTAIN": "refer"}),
    fields=(
        FactField(key="score", label="credit score", type="score"),
        FactField(key="income", label="gross annual income", type="money"),
        FactField(key="status", label="filing status", type="category"),
    ),
    notice="We {decision}: {reasons}.",
)
RULES = """\
A-1. Deny if the credit score is below 640; reason: thin file.
A-2. Refer if the gross annual income is below $10,000.
Precedence: deny, refer, approve. If no rule applies, approve.
"""
LISTED = RULES + "Rules in force: A-1, A-2.\n"
SCORE, INCOME, STATUS = (
    "Credit score: 700\n",
    "Gross annual income: $50,000\n",
    "Filing status: joint",
)


class Offline:
    """Asks the rule-based model and keeps which operations were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.model = RuleBased(RuleBasedSettings())

    async def ask(self, operation: Operation[Any, Any], request: Any) -> Any:
        self.asked.append(operation.name)
        return (await self.model.run(operation, request, 0)).response


class Scripted:
    """Gives each operation the response, or raises the error, that the test wrote."""

    def __init__(self, responses: Mapping[str, object]) -> None:
        self.responses = responses
        self.asked: list[str] = []

    async def ask(self, operation: Operation[Any, Any], request: Any) -> Any:
        self.asked.append(operation.name)
        response = self.responses[operation.name]
        if isinstance(response, Exception):
            raise response
        return response


def view(text: str) -> MemoryView:
    return MemoryView(items=(Item(id="1", text=text),), tokens=0, budget_tokens=None)


def commit(text: str, client: Any = None) -> Answer:
    reader = Commit(NoSettings())
    return asyncio.run(reader.answer(TASK, view(text), client or Offline()))


def verified(text: str, strictness: Any = "moderate", client: Any = None) -> Answer:
    reader = Verified(VerifiedSettings(strictness=strictness))
    return asyncio.run(reader.answer(TASK, view(text), client or Offline()))


def test_commit_decides_in_one_call() -> None:
    client = Offline()
    answer = commit(LISTED + "Credit score: 600", client)
    assert client.asked == ["decide"]
    assert (answer.decision, answer.defaulted) == ("DENY", False)
    assert answer.facts == {"score": "600"}
    assert answer.reasons == ("thin file",)
    assert answer.provisions == ("A-1",)
    assert answer.notice == "We deny: thin file."
    assert "below the 640 of A-1" in answer.rationale


def test_commit_falls_back_to_the_default_and_says_so() -> None:
    answer = commit("")
    assert (answer.decision, answer.defaulted) == ("APPROVE", True)
    assert commit(LISTED + SCORE).defaulted


def test_commit_refers_only_where_the_policy_does() -> None:
    answer = commit(LISTED + SCORE + "Gross annual income: $9,000")
    assert (answer.decision, answer.defaulted) == (ABSTAIN, False)


def test_commit_needs_a_default() -> None:
    task = TaskCard(instruction="", query="")
    with pytest.raises(ValueError, match="default"):
        asyncio.run(Commit(NoSettings()).answer(task, view(""), Offline()))


@pytest.mark.parametrize(
    ("text", "strictness", "decision"),
    [
        (LISTED + SCORE + INCOME + STATUS, "strict", "APPROVE"),
        (LISTED + SCORE + INCOME, "strict", ABSTAIN),
        (LISTED + SCORE + INCOME, "moderate", "APPROVE"),
        (RULES + SCORE + INCOME, "moderate", ABSTAIN),
        (RULES + SCORE + INCOME, "permissive", "APPROVE"),
        (LISTED + "Credit score: 600", "strict", ABSTAIN),
        (LISTED + "Credit score: 600", "moderate", "DENY"),
        (LISTED + "Credit score: 600\nCredit score: 610", "moderate", ABSTAIN),
        (LISTED + "Credit score: 600\nCredit score: 610", "permissive", "DENY"),
        (LISTED + "Credit score: 600\nCredit score: 700\n" + INCOME, "permissive", ABSTAIN),
        (LISTED + SCORE, "permissive", ABSTAIN),
        ("", "permissive", ABSTAIN),
    ],
)
def test_verified_commits_by_strictness(text: str, strictness: str, decision: str) -> None:
    assert verified(text, strictness).decision == decision


def test_an_incomplete_view_is_not_decided_and_the_gaps_are_named() -> None:
    client = Offline()
    answer = verified(LISTED + INCOME, client=client)
    assert client.asked == ["check_completeness"]
    assert "credit score" in answer.rationale
    unseen = LISTED.replace("A-2. Refer if the gross annual income is below $10,000.\n", "")
    assert "the text of A-2" in verified(unseen + SCORE).rationale


def test_a_check_that_can_not_be_read_abstains() -> None:
    client = Scripted({"check_completeness": ValueError("no JSON object in the response")})
    answer = verified("", client=client)
    assert answer.decision == ABSTAIN
    assert "no JSON object" in answer.rationale
    assert client.asked == ["check_completeness"]


def test_a_decision_left_undetermined_abstains() -> None:
    client = Scripted(
        {
            "check_completeness": CompletenessResponse(complete=True),
            "decide": DecideResponse(
                decision=UNDETERMINED, amount=1.0, notice="x", rationale="why"
            ),
        }
    )
    answer = verified("", client=client)
    assert (answer.decision, answer.amount, answer.notice) == (ABSTAIN, None, "")
    assert answer.rationale == "why"


def test_a_decision_that_can_not_be_read_is_an_error() -> None:
    client = Scripted(
        {
            "check_completeness": CompletenessResponse(complete=True),
            "decide": ValueError("decision 'MAYBE' is not one of the card"),
        }
    )
    with pytest.raises(ValueError, match="MAYBE"):
        verified("", client=client)
    with pytest.raises(ValueError, match="MAYBE"):
        commit("", client)
