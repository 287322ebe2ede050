"""Fold new documents into a running summary under a token limit (LongHorizon 5, Summ-only)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._card import documents_text
from framework.operations._filling import pick, tokens_of
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.lexicon import FREE
from framework.operations.reading.noise import mishap
from framework.operations.reading.salience import Salience, claims_in, salience_of, written
from framework.operations.reading.text import Statement, statements
from framework.registry import register

__all__ = ["Summarize", "SummarizeRequest", "SummarizeResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeRequest:
    """The summary so far, the documents to fold in, in order, and the limit in tokens."""

    summary: str
    chunks: tuple[str, ...]
    limit_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeResponse:
    """The new summary, which replaces the old one."""

    summary: str


@register("operation", "summarize")
class Summarize(PromptedOperation[SummarizeRequest, SummarizeResponse]):
    """Fold new documents into a running summary under a fact-preservation prompt.

    The rule-based answer picks sentences by general salience (policy and corrections, statements of
    a value, other figures, prose), then by tokens per value. It knows neither the task nor the
    answer form's labels, drops courtesies, repeated statements and figures that a correction
    withdraws, and keeps within the limit exactly.
    """

    slots = frozenset({"summary", "documents", "limit"})

    def fill(self, request: SummarizeRequest) -> Mapping[str, str]:
        return {
            "summary": request.summary,
            "documents": documents_text(request.chunks),
            "limit": str(request.limit_tokens),
        }

    def parse(self, text: str, request: SummarizeRequest) -> SummarizeResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("summary",))
        return SummarizeResponse(summary=_json.text(data, "summary"))

    def offline(self, request: SummarizeRequest, profile: Profile) -> SummarizeResponse:
        found = [s for text in (request.summary, *request.chunks) for s in statements(text)]
        told = [s for s in found if mishap(f"{self.name}: {s.text}", profile) != "miss"]
        lines = [(_rank(s), written(s)) for s in _without_repetition(told)]
        return SummarizeResponse(summary="\n".join(pick(lines, request.limit_tokens)))


def _rank(statement: Statement) -> tuple[int, ...]:
    """Sort key, the most salient first, then fewest tokens per claim."""
    claims = len(claims_in(statement.text)) or 1
    return (-salience_of(statement.text), tokens_of(statement.text) // claims)


def _without_repetition(found: Iterable[Statement]) -> list[Statement]:
    """Statements that say something: no courtesies, nothing said before, nothing withdrawn."""
    kept: dict[str, Statement] = {}
    for statement in found:
        if salience_of(statement.text) > Salience.FILLER:
            kept.setdefault(statement.text, statement)
    withdrawn = {
        ("current", _label(claim.key), value)
        for text in kept
        for claim in claims_in(text)
        if claim.status == "correction"
        for value in claim.withdraws
    }
    said: set[tuple[str, str, str]] = set()
    result: list[Statement] = []
    for text, statement in kept.items():
        if salience_of(text) == Salience.STATEMENT:
            claims = {
                (claim.status, _label(claim.key), claim.value.canonical)
                for claim in claims_in(text)
                if claim.value
            }
            if claims and claims <= withdrawn | said:
                continue
            said |= claims
        result.append(statement)
    return result


def _label(key: str) -> str:
    """The last words of what names a value, which tell one quantity from another."""
    return " ".join(key.removeprefix(FREE).split()[-_LABEL_WORDS:])


_LABEL_WORDS: Final = 2
