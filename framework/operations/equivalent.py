"""Check whether an answer to a question says what was expected, by the rule for its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.operations.prompted import PromptedOperation
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalentRequest:
    """A question, what was expected, what was given, and the kind of question.

    kind : a rule of the prompts: `answer` or `unanswerable`; in the set `longmemeval` the question
        types of LongMemEval and `abstention` (Wu et al. 2024), in `locomo` the categories of LoCoMo
        (Maharana et al. 2024).
    """

    question: str
    expected: str
    given: str
    kind: str = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalentResponse:
    """Whether the given answer is right by the rule, and why in one sentence."""

    met: bool
    why: str = ""


@register("operation", "equivalent")
class Equivalent(PromptedOperation[EquivalentRequest, EquivalentResponse]):
    """Say whether an answer is right, by the published rule for its kind of question."""

    response = EquivalentResponse
    slots = frozenset({"question", "expected", "given", "rule"})

    def fill(self, request: EquivalentRequest) -> Mapping[str, str]:
        return {
            "question": request.question,
            "expected": request.expected,
            "given": request.given,
            "rule": self.rule(request.kind),
        }
