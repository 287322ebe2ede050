"""What in a sentence a question asks for: a date, a number, a name, or the whole of it."""

from __future__ import annotations

import re
from typing import Final

from framework.text.values import Value, find_values
from plugins.models.rule_based.sessions.turns import names, stems
from plugins.models.rule_based.sessions.when import phrase

WHEN: Final = re.compile(r"\bwhen\b|\b(?:what|which) (?:date|day)\b", re.IGNORECASE)
HOW_MUCH: Final = re.compile(r"\bhow much\b|\btotal\b", re.IGNORECASE)
_QUANTITY: Final = re.compile(
    r"\bhow (?:many|much|often|long|old|far|tall)\b|\bnumber of\b|\btotal\b", re.IGNORECASE
)
_KIND: Final = re.compile(
    r"\b(?:which|what) (?:kind of |type of |color is )?([a-z]+)", re.IGNORECASE
)
_NOUN: Final = re.compile(r"\bhow many ([\w'-]+)", re.IGNORECASE)
_DETERMINER_WORDS: Final = (
    "a an the my our your his her their this that which what new old another some any"
)
_DETERMINERS: Final = frozenset(_DETERMINER_WORDS.split())


def span_of(question: str, sentence: str) -> str:
    """What in a sentence the question asks for; the sentence, when there is no such thing."""
    if WHEN.search(question):
        return phrase(sentence) or sentence
    if _QUANTITY.search(question):
        value = amount_of(question, sentence)
        return value.text if value is not None else sentence
    kind = _KIND.search(question)
    if kind is not None:
        modified = re.search(rf"\b((?:[\w'-]+ )?[\w'-]+) {re.escape(kind[1])}\b", sentence)
        if modified is not None:
            words = [w for w in modified[1].split() if w.casefold() not in _DETERMINERS]
            if words and not stems(" ".join(words)) <= stems(question):
                return f"{' '.join(words)} {kind[1]}"
    asked = stems(question)
    bears = (name for name in names(sentence) if not stems(name) <= asked)
    return next(bears, sentence)


def amount_of(question: str, sentence: str) -> Value | None:
    """The number in a sentence that the question asks for: by what is counted, else the first."""
    asked = {value.text for value in find_values(question)}
    numbers = [
        value
        for value in find_values(sentence)
        if value.type in ("money", "percent", "count", "score") and value.text not in asked
    ]
    noun = _NOUN.search(question)
    if noun is not None:
        wanted = stems(noun[1])
        for value in numbers:
            after = sentence[value.start : value.end] + " " + sentence[value.end :][:30]
            if wanted & stems(after):
                return value
    if HOW_MUCH.search(question):
        numbers.sort(key=lambda value: value.type != "money")
    return numbers[0] if numbers else None
