"""The conformance suite finds a judge that breaks a law: one broken judge per law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from framework.contracts import Client, Judge, Operation, Profile, Prompt, Rule, Verdict
from framework.records import Answer, ReasoningPoint, Standard
from framework.registry import NoSettings, register
from framework.testing.adversarial import RuleJudge
from framework.testing.judge_conformance import check_judge


class Good(RuleJudge):
    """Judges by rule. Every broken judge below differs from it in one thing."""


class Phrases(Good):
    """Looks for a phrase, as whoever lists all of them knows."""

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        return [
            Verdict(id=p.id, met=p.requires[0][0] in rationale, evidence=rationale) for p in points
        ]


class BothWays(Phrases):
    """Looks for the point's own words in any sentence."""

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        return [Verdict(id=p.id, met=p.text in rationale, evidence=rationale) for p in points]


class AnyNotice(Good):
    """Finds an action wherever its word is."""

    def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        words = [group for item in standard.items for group in item.requires]
        met = all(any(word in answer.notice for word in group) for group in words)
        return [Verdict(id=item.id, met=met) for item in standard.items]


class AnyAnswer(Good):
    """Is content with an answer that has the expected one in it."""

    def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Client
    ) -> Verdict:
        return Verdict(id="answer", met=expected in given)


Changed = Callable[[list[Verdict], str], Sequence[Any]]


def entailing(change: Changed) -> type[Good]:
    """`Good` with its verdicts on points changed."""

    class Broken(Good):
        """Broken."""

        def entail(
            self, rationale: str, points: Sequence[ReasoningPoint], client: Client
        ) -> Sequence[Verdict]:
            return change(list(super().entail(rationale, points, client)), rationale)

    return Broken


def auditing(change: Callable[[list[Verdict]], Sequence[Any]]) -> type[Good]:
    """`Good` with its verdicts on notices changed."""

    class Broken(Good):
        """Broken."""

        def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
            return change(list(super().audit(answer, standard, client)))

    return Broken


class SeesArm(Good):
    """Asks for the arm's name."""

    def audit(
        self, answer: Answer, standard: Standard, client: Client, arm: str = ""
    ) -> Sequence[Verdict]:
        return super().audit(answer, standard, client)


class Remembers(Good):
    """Finds nothing met in what follows a denial."""

    tired = False

    def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        vars(self)["tired"] = True
        return super().audit(answer, standard, client)

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        verdicts = super().entail(rationale, points, client)
        return [replace(v, met=v.met and not self.tired) for v in verdicts]


class Echo(Operation[str, str]):
    """An operation that answers with its request."""

    name = "judged_echo"

    def prompt(self, request: str) -> Prompt:
        return Prompt(system="", user=request)

    def parse(self, text: str, request: str) -> str:
        return text


@register("rule", "judged_echo")
class EchoRule(Rule[str, str]):
    """Its request."""

    def answer(self, request: str, profile: Profile) -> str:
        return request


class Asks(Good):
    """Asks a model, and is right to call itself one."""

    kind = "llm"

    async def entail(  # type: ignore[override]
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        return super().entail(await client.ask(Echo(), rationale), points, client)


class AsksInSecret(Asks):
    """Asks a model and calls itself rule-based."""

    kind = "rule-based"


def first_only(verdicts: list[Verdict], rationale: str) -> list[Verdict]:
    return [replace(v, met=v.met and i == 0) for i, v in enumerate(verdicts)]


BROKEN: list[tuple[type[Judge[Any]], str]] = [
    (type("Broken", (Good,), {"__doc__": ""}), "docstring"),
    (type("Broken", (Good,), {"__doc__": "Broken.", "kind": "human"}), "kind: 'human' given"),
    (SeesArm, "audit takes self, answer, standard, client, arm"),
    (entailing(lambda verdicts, r: verdicts[:-1]), r"asked in this order"),
    (entailing(lambda verdicts, r: sorted(verdicts, key=lambda v: v.id)), "asked in this order"),
    (entailing(lambda verdicts, r: [(v.id, v.met) for v in verdicts]), "not a Verdict"),
    (entailing(lambda verdicts, r: [replace(v, met=0.5) for v in verdicts]), "is 0.5"),
    (
        entailing(lambda verdicts, r: [replace(v, evidence=None) for v in verdicts]),
        "evidence on p2 is no text",
    ),
    (entailing(first_only), "a verdict depends on the order"),
    (auditing(lambda verdicts: verdicts[::-1]), "asked in this order"),
    (
        auditing(lambda verdicts: [replace(v, met=len(verdicts) > 1) for v in verdicts]),
        "depends on the other items",
    ),
    (Remembers, "judged before"),
    (AsksInSecret, "asked a model for judged_echo"),
    (Phrases, "'list everything' entails below"),
    (BothWays, "'assert both ways' entails below"),
    (AnyNotice, "passes as a notice"),
    (AnyAnswer, "'list everything' passes as an answer"),
]


@pytest.mark.parametrize("judge", [Good, Asks])
def test_a_good_judge_passes(judge: type[Judge[Any]]) -> None:
    check_judge(judge, NoSettings())


@pytest.mark.parametrize(("judge", "law"), BROKEN)
def test_a_broken_judge_is_found(judge: type[Judge[Any]], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_judge(judge, NoSettings())
