"""The claims of a reader who knows no labels: values bound to the words that stand before them.

Three generic forms: `X: V`, `the X is V`, `X of V`. Which of those words name the quantity shows
only when the same words occur in the policy or on the answer form (`bind`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from framework.text.values import Value, find_values
from plugins.models.rule_based.reading.claims import (
    Claim,
    category_at,
    combine,
    is_hypothetical,
)
from plugins.models.rule_based.reading.cues import is_past, value_status
from plugins.models.rule_based.reading.lexicon import FREE

_WORD: Final = re.compile(r"[^\W_]+")
_LINK: Final = (
    r"is|was|are|were|of|as|at|to|stands?|stood|now|stated|restated|corrected|reported|recorded|"
    r"listed|given|formerly|previously|currently|not|in fact"
)
_LINKS: Final = re.compile(rf"(?:\s*[:=]|\s+(?:{_LINK})\b)+\s*\Z", re.IGNORECASE)
_PREFIX: Final = re.compile(r"[^.;:,()]*\Z")
_CATEGORY: Final = re.compile(
    r"(?:\A|[:;]\s)\s*(?P<label>[^\W\d][^:;.,=]{1,60}?)"
    r"(?:\s*[:=]\s+|\s+(?:is|was)\s+(?:(?:now|formerly|previously|restated as|corrected to)\s+)?)"
    r"(?=\w)",
    re.IGNORECASE,
)
# What may stand before a label without being part of it.
_BOUND_WORDS: Final = (
    "the a an its his her their our your my this that with for at by and on to from showing shows "
    "show reports reported reporting lists listed states stated gives gave has have had"
)
_BOUND: Final = frozenset(_BOUND_WORDS.split())
_MAX_LABEL_WORDS: Final = 10


def unlabelled_claims(sentence: str) -> tuple[Claim, ...]:
    """The claims of a sentence, with free keys."""
    if is_hypothetical(sentence):
        return ()
    values = find_values(sentence)
    status = value_status(sentence, values)
    claims: list[Claim] = []
    held: tuple[str, Value] | None = None
    past: list[Value] = []
    taken = 0
    for value in values:
        before = sentence[taken : value.start]
        key = _label_before(before)
        old = is_past(before, sentence[value.end :])
        if held is not None and not (old and not key):
            claims.extend(combine(held[0], status, held[1], past))
            held, past = None, []
        if old and held is not None:
            past.append(value)
        elif key and old:
            claims.append(Claim(key=key, status="retired", value=value))
        elif key:
            held = (key, value)
        taken = value.end
    if held is not None:
        claims.extend(combine(held[0], status, held[1], past))
    if not claims:
        claims.extend(_category_claims(sentence))
    if status.rescinds:
        keys = dict.fromkeys(claim.key for claim in claims)
        claims.extend(Claim(key=key, status="rescinded", dated=status.dated) for key in keys)
    return tuple(claims)


def _label_before(before: str) -> str:
    """The free key in the words before a value, empty when nothing links them to it."""
    link = _LINKS.search(before)
    prefix = _PREFIX.search(before[: link.start()]) if link else None
    words = _WORD.findall(prefix[0].casefold()) if prefix else []
    return FREE + " ".join(words[-_MAX_LABEL_WORDS:]) if words else ""


def _category_claims(sentence: str) -> list[Claim]:
    claims: list[Claim] = []
    status = value_status(sentence, find_values(sentence))
    for match in _CATEGORY.finditer(sentence):
        value = category_at(sentence, match.end(), len(sentence))
        key = FREE + " ".join(_WORD.findall(match["label"].casefold())[-_MAX_LABEL_WORDS:])
        if value is None or key == FREE:
            continue
        old = is_past(sentence[match.start() : match.end()], sentence[value.end :])
        claims.extend(combine(key, status, None if old else value, [value] if old else []))
    return claims


def bind(claim: Claim, targets: Iterable[tuple[tuple[str, ...], str]]) -> Claim:
    """The claim under the key of the first target whose words end its own, else as it is.

    A target counts when nothing, or only a function word, stands before it: `net income` is not
    `income`. `targets` are (words, key), longest first.
    """
    words = tuple(claim.key[len(FREE) :].split())
    for target, key in targets:
        rest = len(words) - len(target)
        if rest >= 0 and words[rest:] == target and (rest == 0 or words[rest - 1] in _BOUND):
            return replace(claim, key=key)
    return claim
