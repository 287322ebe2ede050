"""How a summary is kept: sentences by general salience."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.summarize import SummarizeRequest, SummarizeResponse
from framework.registry import register
from plugins.models.rule_based.dated import Statement, statements
from plugins.models.rule_based.memory.filling import pick, tokens_of
from plugins.models.rule_based.noise import is_missed
from plugins.models.rule_based.reading.lexicon import FREE
from plugins.models.rule_based.reading.salience import Salience, claims_in, salience_of, written

_LABEL_WORDS: Final = 2


@register("rule", "summarize")
class SummarizeRule(Rule[SummarizeRequest, SummarizeResponse]):
    """Sentences by general salience, then by tokens per value.

    Policy and corrections come first, then statements of a value, other figures, prose. It
    knows neither the task nor the answer form's labels, drops courtesies, repeated statements
    and figures that a correction withdraws, and keeps within the limit exactly.
    """

    def answer(self, request: SummarizeRequest, profile: Profile) -> SummarizeResponse:
        found = [s for text in (request.summary, *request.chunks) for s in statements(text)]
        told = [s for s in found if not is_missed(f"{self.name}: {s.text}", profile)]
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
