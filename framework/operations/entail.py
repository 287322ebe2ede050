"""Check which inferences a rationale entails (LongHorizon 3.3, the judge E of RCS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.operations.prompted import PromptedOperation
from framework.operations.verdicts import Finding, numbered, read_findings, written
from framework.records import ReasoningPoint
from framework.registry import register
from framework.text.canonical import canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class EntailRequest:
    """The whole rationale, and the points in the order in which they are shown.

    A language model is shown the points' texts only; the phrases that they require and forbid are
    for a rule.
    """

    rationale: str
    points: tuple[ReasoningPoint, ...]


@register("operation", "entail")
class Entail(PromptedOperation[EntailRequest, tuple[Finding, ...]]):
    """Say, point by point, whether a rationale entails it, quoting the words that do."""

    slots = frozenset({"rationale", "points", "count"})

    def fill(self, request: EntailRequest) -> Mapping[str, str]:
        return {
            "rationale": request.rationale,
            "points": numbered([point.text for point in request.points]),
            "count": str(len(request.points)),
        }

    def parse(self, text: str, request: EntailRequest) -> tuple[Finding, ...]:
        ids = [point.id for point in request.points]
        return read_findings(self.json_object(text), ids, request.rationale)

    def render(self, response: tuple[Finding, ...]) -> str:
        return canonical_json(written(response))
