"""What a noisy reader takes a statement for that it misreads: another value of the same type."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from framework.text.values import Value, parse_value
from plugins.models.rule_based.reading.claims import Claim
from plugins.models.rule_based.reading.policy import Condition, PolicyPart, PolicyRule

_MONTH: Final = timedelta(days=30)


def misread(claim: Claim) -> Claim:
    """The claim with another value, where its value can be misread as one of the same type."""
    return replace(claim, value=_other(claim.value)) if claim.value else claim


def misread_part(part: PolicyPart) -> PolicyPart:
    """The rule with other thresholds; other parts of a policy are read as they stand."""
    if not isinstance(part, PolicyRule):
        return part
    return replace(part, conditions=tuple(map(_other_condition, part.conditions)))


def _other_condition(condition: Condition) -> Condition:
    options = tuple(map(_other, condition.options))
    if len(options) != 1:
        return replace(condition, options=options)
    return replace(condition, options=options, right_text=options[0].text)


def _other(value: Value) -> Value:
    if value.type == "date":
        text = (date.fromisoformat(value.canonical) + _MONTH).isoformat()
    else:
        text = _shift_digit(value.text)
    return parse_value(text, value.type) or value


def _shift_digit(text: str) -> str:
    """`text` with its first digit one higher; 9 becomes 1, so that no number gets shorter."""
    for index, character in enumerate(text):
        if character.isascii() and character.isdigit():
            other = "1" if character == "9" else str(int(character) + 1)
            return text[:index] + other + text[index + 1 :]
    return text
