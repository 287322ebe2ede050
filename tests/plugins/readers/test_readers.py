"""The readers commit or abstain as they promise."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from framework.contracts import Operation
from framework.errors import UserError
from framework.operations.answering import AnswerRequest
from framework.operations.check_completeness import CompletenessResponse
from framework.operations.decide import UNDETERMINED, Decide, DecideResponse
from framework.records import ABSTAIN, Answer, FactField, Item, MemoryView, TaskCard
from framework.registry import find, identity_of
from plugins.models.rule_based.model import RuleBased, RuleBasedSettings
from plugins.readers.always import Always, AlwaysSettings
from plugins.readers.commit import Commit, CommitSettings
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

    def choose(self, options: Sequence[str]) -> str:
        return options[-1]

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


def commit(
    text: str, client: Any = None, undetermined: Any = "choose", task: TaskCard = TASK
) -> Answer:
    reader = Commit(CommitSettings(undetermined=undetermined))
    return asyncio.run(reader.answer(task, view(text), client or Offline()))


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


def test_commit_chooses_where_nothing_is_determined_and_says_so() -> None:
    answer = commit("")
    assert (answer.decision, answer.defaulted) == ("DENY", True), "what the client chose"
    assert commit(LISTED + SCORE).defaulted
    assert "was chosen evenly" in answer.rationale


def test_commit_falls_back_to_the_default_where_it_is_told_to() -> None:
    answer = commit("", undetermined="default")
    assert (answer.decision, answer.defaulted) == ("APPROVE", True)
    assert commit(LISTED + SCORE, undetermined="default").defaulted


def test_a_decision_that_was_not_determined_has_the_amount_that_follows_anyway() -> None:
    task = replace(TASK, amounts={"DENY": "0", "APPROVE": "income - 1000"})
    assert commit("", task=task).amount == 0.0
    approved = commit("", undetermined="default", task=task)
    assert (approved.decision, approved.amount) == ("APPROVE", None)
    read = commit(INCOME, undetermined="default", task=task)
    assert (read.decision, read.amount, read.defaulted) == ("APPROVE", 49_000.0, True)


def test_a_forced_choice_does_not_offer_to_leave_it_open() -> None:
    """A language model is not offered it; one that answers so all the same is no error."""
    for must, offered in ((False, True), (True, False)):
        request = AnswerRequest(task=replace(TASK, must_decide=must), view="")
        schema: Any = Decide().schema(request)
        assert (UNDETERMINED in schema["properties"]["decision"]["enum"]) == offered
        assert ("the one that is most likely right" in Decide().prompt(request).text) == must
        text = Decide().render(DecideResponse(decision=UNDETERMINED))
        assert Decide().parse(text, request).decision == UNDETERMINED


def test_a_constant_answer_reads_nothing() -> None:
    for decision in ("APPROVE", "DENY", ABSTAIN):
        reader = Always(AlwaysSettings(decision=decision))
        answer = reader.answer(TASK, view(LISTED + SCORE + INCOME), Scripted({}))
        assert (answer.decision, answer.defaulted, dict(answer.facts)) == (decision, True, {})
    with pytest.raises(UserError, match=r"reader.decision: 'DENIED' .*did you mean 'DENY'"):
        Always(AlwaysSettings(decision="DENIED")).answer(TASK, view(""), Scripted({}))


def test_commit_refers_only_where_the_policy_does() -> None:
    answer = commit(LISTED + SCORE + "Gross annual income: $9,000")
    assert (answer.decision, answer.defaulted) == (ABSTAIN, False)


def test_commit_needs_a_default() -> None:
    for way in ("choose", "default"):
        with pytest.raises(ValueError, match="default"):
            commit("", undetermined=way, task=TaskCard(instruction="", query=""))


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
            "check_completeness": CompletenessResponse(),
            "decide": DecideResponse(
                decision=UNDETERMINED, amount=1.0, notice="x", rationale="why"
            ),
        }
    )
    answer = verified("", client=client)
    assert (answer.decision, answer.amount, answer.notice) == (ABSTAIN, None, "")
    assert answer.rationale == "why"


@pytest.mark.parametrize(
    ("threshold", "confidence", "decision"),
    [
        (0.0, None, "DENY"),
        (0.0, 0.0, "DENY"),
        (0.8, 0.8, "DENY"),
        (0.8, 0.79, ABSTAIN),
        (0.8, None, ABSTAIN),
        (1.0, 1.0, "DENY"),
    ],
)
def test_a_decision_below_the_threshold_is_withdrawn(
    threshold: float, confidence: float | None, decision: str
) -> None:
    client = Scripted(
        {
            "check_completeness": CompletenessResponse(),
            "decide": DecideResponse(
                decision="DENY", amount=1.0, notice="x", rationale="why", confidence=confidence
            ),
        }
    )
    reader = Verified(VerifiedSettings(threshold=threshold))
    answer = asyncio.run(reader.answer(TASK, view(""), client))
    assert (answer.decision, answer.confidence) == (decision, confidence)
    if decision == ABSTAIN:
        told = "none" if confidence is None else "0.79"
        assert answer.rationale == f"Confidence in DENY: {told}, 0.8 needed. why"
        assert (answer.amount, answer.notice) == (None, "")


def test_a_threshold_is_a_share_and_0_is_the_reader_of_before() -> None:
    with pytest.raises(ValueError, match=r"threshold: 1.5 given, 0 to 1 expected"):
        VerifiedSettings(threshold=1.5)
    verified = find("reader", "verified")
    assert identity_of(verified, VerifiedSettings()) == {"strictness": "moderate"}
    assert identity_of(verified, VerifiedSettings(threshold=0.8)) == {
        "strictness": "moderate",
        "threshold": 0.8,
    }


def test_a_decision_that_can_not_be_read_is_an_error() -> None:
    client = Scripted(
        {
            "check_completeness": CompletenessResponse(),
            "decide": ValueError("decision 'MAYBE' is not one of the card"),
        }
    )
    with pytest.raises(ValueError, match="MAYBE"):
        verified("", client=client)
    with pytest.raises(ValueError, match="MAYBE"):
        commit("", client)
