"""Sentences that say how code must behave, read as rules by a closed grammar.

What is meant in code stands in backticks. The grammar knows forms of sentences, and nothing of any
service, decision or task; a sentence of another form is no rule to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRule:
    """What to do to a function.

    kind : `drop` or the name of one of the grammar's forms.
    terms : the code that the sentence names, in the order that the kind needs.
    """

    kind: str
    terms: tuple[str, ...]
    sentence: str


_C: Final = r"`([^`]+)`"
_N: Final = r"(\d+)"
_FORMS: Final = tuple(
    (kind, re.compile(form, re.IGNORECASE))
    for kind, form in (
        ("value_through", rf"\bthe value of {_C} (?:goes|is passed|passes) through {_C}"),
        ("through", rf"{_C} (?:goes|is passed|passes) through {_C}"),
        ("cut", rf"\b(?:larger|greater|higher) {_C} is (?:cut|lowered|reduced) to {_N}"),
        ("raise_to", rf"\b(?:smaller|lower) {_C} is raised to {_N}"),
        ("refuse_longer", rf"{_C} longer than {_N} characters is refused with {_C}"),
        ("refuse_below", rf"{_C} (?:below|less than) {_N} is refused with {_C}"),
        ("refuse_above", rf"{_C} (?:above|more than) {_N} is refused with {_C}"),
        ("refuse_empty", rf"\b(?:an )?empty {_C} is refused with {_C}"),
        ("order", rf"\bin the order of {_C}, the (oldest|smallest|newest|largest) first"),
        ("call_first", rf"\bcalls {_C} (?:first|before anything else)"),
        ("call_last", rf"\bcalls {_C} (?:last|once it is done)"),
        ("replace", rf"{_C} (?:takes the place of|replaces|is used in place of) {_C}"),
        ("nothing_where", rf"\b(?:where|when) {_C} holds, (?:the answer is|it returns) None"),
        ("within", rf"\b(?:the whole body|all of it|everything) runs within {_C}"),
        ("rename", rf"\bunder the key {_C}, (?:never|not) {_C}"),
        ("lasts", rf"\b(?:holds|lasts|is good|is valid) for {_N} (seconds|minutes|hours|days)\b"),
    )
)
_DROP: Final = re.compile(rf"\b(?:leaves?|leaving) out ({_C}(?:(?:, | and |, and ){_C})*)")
_CODE: Final = re.compile(_C)


def rule_in(sentence: str) -> CodeRule | None:
    """The rule that a sentence states; None for one that states none."""
    dropped = _DROP.search(sentence)
    if dropped:
        return CodeRule(kind="drop", terms=tuple(_CODE.findall(dropped[1])), sentence=sentence)
    for kind, form in _FORMS:
        found = form.search(sentence)
        if found:
            return CodeRule(kind=kind, terms=found.groups(), sentence=sentence)
    return None
