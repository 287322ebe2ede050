"""How much a sentence matters to a generic summariser: one who knows neither task nor labels."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final

from framework.text.values import find_values
from plugins.models.rule_based.dated import Statement
from plugins.models.rule_based.reading.claims import Claim
from plugins.models.rule_based.reading.cues import value_status
from plugins.models.rule_based.reading.unlabelled import unlabelled_claims


class Salience(IntEnum):
    """Classes of sentences, the least worth keeping first."""

    FILLER = 0
    PROSE = 1
    FIGURES = 2
    STATEMENT = 3
    RULE = 4


_PROVISION: Final = re.compile(
    r"(?:[-*•]\s+)?[A-Z][A-Za-z]*(?:-|\s+)\d[\w.]*?(?:\s+\(amended[^)]*\))?[.:]\s"
    r".*\b(?:[Ii]f|[Ww]here|[Ww]hen|[Uu]nless)\b",
    re.DOTALL,
)
_POLICY: Final = re.compile(
    r"\brules?\s+in\s+force\b|\bprecedence\b|\bno\s+rule\s+applies\b"
    r"|\b(?:must|shall|may)\s+(?:not\s+)?be\s+\w+(?:ed|en)\s+(?:if|where|when|unless)\b",
    re.IGNORECASE,
)
_POLICY_PARTS: Final = ("force", "precedence", "applies", " be ")
_FILLER: Final = re.compile(
    r"(?:dear|hello|hi|hey|good (?:morning|afternoon|evening|day)|greetings|thanks?|thank you|"
    r"many thanks|sincerely|yours|best|kind|warm|regards|respectfully|cordially|cheers|"
    r"(?:we|i) (?:appreciate|hope|thank|look forward|trust)|please (?:do not|don't|feel free|"
    r"contact|call|let|reach|find|see|keep|retain)|(?:if|should) you have (?:any )?questions|"
    r"have a|do not hesitate|feel free|this (?:page|space)|page \d)\b",
    re.IGNORECASE,
)
_CACHED: Final = 1 << 16


@lru_cache(maxsize=_CACHED)
def claims_in(sentence: str) -> tuple[Claim, ...]:
    """Claims of a sentence as one reads them who knows no labels, remembered."""
    return unlabelled_claims(sentence)


@lru_cache(maxsize=_CACHED)
def salience_of(sentence: str) -> Salience:
    """The class of a sentence by its wording alone.

    RULE : a provision or another part of a policy, or a correction: what changes other statements.
    STATEMENT : a value or category bound to words. FIGURES : any typed value. FILLER : courtesies.
    """
    if _PROVISION.match(sentence):
        return Salience.RULE
    lowered = sentence.lower()
    if any(part in lowered for part in _POLICY_PARTS) and _POLICY.search(sentence):
        return Salience.RULE
    values = find_values(sentence)
    status = value_status(sentence, values)
    if status.corrects or status.rescinds:
        return Salience.RULE
    if values:
        return Salience.STATEMENT if claims_in(sentence) else Salience.FIGURES
    if ":" in sentence and claims_in(sentence):
        return Salience.STATEMENT
    if _FILLER.match(sentence) or len(sentence.split()) < _FEWEST_WORDS:
        return Salience.FILLER
    return Salience.PROSE


_FEWEST_WORDS: Final = 4


def written(statement: Statement) -> str:
    """A statement as a line of notes: with its date only where the date has a bearing.

    That is where it corrects others and does not say when: most figures need no date to be
    corrected.
    """
    if not statement.date:
        return statement.text
    status = value_status(statement.text, find_values(statement.text))
    dateless = (status.corrects and not status.dated) or status.rescinds
    return f"{statement.date}: {statement.text}" if dateless else statement.text
