"""Patterns for what a notice must not say: another decision, a prohibited basis, another figure.

`forbids` of an item names them in braces, and the words come from the spec. They know usual ways
to say it and no more: `decisionbench calibrate rules --set letters` measures how much they miss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from plugins.domains.regulated.policy import Knowledge, Value
from plugins.domains.regulated.spec import Spec, StandardSpec
from plugins.domains.regulated.wording import value_forms

_FIGURES: Final = frozenset({"money", "percent", "count", "score"})
"""Types of facts whose values are figures."""
_ADVERBS: Final = r"(?:now\s+|hereby\s+|\w+ly\s+)*"
_ASSERTED: Final = (
    r"(?:^|(?<=[.;!?]))(?:(?!n[’']t\b|\b(?:not|never|no|none|nothing|cannot|unable|without|if|unless|"
    r"earlier|previous|previously|prior|elsewhere|pre-approv\w*|"
    r"until|once|when|whenever|where|whether|regardless|unlawful|illegal|prohibit\w*|forbid\w*|"
    r"discriminat\w*)\b)[^.;!?])*?"
)
"""The start of a clause, up to where it has denied nothing and made no condition."""
_NO_PART: Final = (
    r"(?![^.;!?]{0,80}\b(?:no\s+part|no\s+role|not\s+(?:a\s+factor|considered|used|taken)|excluded|"
    r"irrelevant)\b)"
)
"""Not before the words that a basis had no weight."""
_SAYS: Final = (
    r"(?:\s+ratio)?(?:\s*[:=(]\s*|(?:,?\s+(?:of|is|was|are|were|at|stands\s+at|comes\s+to|equals|"
    r"(?:calculated|computed|reported|found)\s+(?:as|at|to\s+be)))*\s+)"
)
"""What stands between the name of a fact and its value. A comparison does not."""
_OF_THE_CASE: Final = "".join(
    rf"(?<!{word}\s)" for word in ("maximum", "minimum", "required", "highest", "lowest", "allowed")
)
"""Before the name of a fact: what follows is no threshold."""
_WITHDRAWN: Final = (
    r"\b(?:none\s+of\s+(?:the|these|those|our)\s+(?:\w+\s+){0,3}?(?:reasons|grounds|bases)|"
    r"(?:these|those|the)\s+(?:\w+\s+){0,2}?(?:reasons|grounds|bases)\s+(?:\w+\s+){0,2}?"
    r"(?:are|were|did|do)\s+not\s+(?:the|our|ours|those|true|correct|valid|real|hold|apply|stand)|"
    r"disregard\s+(?:the|these|those|any)\s+(?:\w+\s+){0,2}?(?:reasons?|grounds?|bases))\b"
)


def expanded(spec: Spec, known: Knowledge, form: str) -> Sequence[str]:
    """The patterns that an entry of `forbids` stands for: itself where it names none."""
    if form == "{each_figure}":
        return _other_figures(spec, known)
    return _OF_THE_STANDARD[form](spec.standard) if form in _OF_THE_STANDARD else (form,)


def figure(value: Value) -> str:
    """A pattern for a figure, with or without its sign, commas and cents; else for the words."""
    if not isinstance(value, (int, float)):
        return literal(str(value))
    whole, _, decimals = f"{value:,.2f}".partition(".")
    cents = rf"\.{decimals}" if int(decimals) else r"(?:\.00?)?"
    return rf"(?:\$|USD\s*)?{whole.replace(',', ',?')}{cents}(?![,.]?\d)"


def literal(text: str) -> str:
    """A pattern for `text` as whole words, any white space between them."""
    words = r"\s+".join(map(re.escape, text.split()))
    left = r"(?<!\w)" if text[:1].isalnum() else ""
    right = r"(?![\w])" if text[-1:].isalnum() else ""
    return left + words + right


def either(patterns: Sequence[str]) -> str:
    """A pattern for any of `patterns`; for none of them one that never matches."""
    return f"(?:{'|'.join(patterns)})" if patterns else "(?!)"


def stated(known: Knowledge, key: str) -> list[Value]:
    """What the history states of a fact, in a fixed order."""
    return sorted(known.get(key, ()), key=str)


def _other_figures(spec: Spec, known: Knowledge) -> list[str]:
    """Another figure under the name of a fact than those that the history states."""
    patterns = []
    for fact in spec.facts.values():
        if fact.type not in _FIGURES:
            continue
        values = stated(known, fact.key)
        forms = [literal(form) for value in values for form in value_forms(fact, value)]
        right = either([*forms, *(figure(value) + r"(?!\s?%)" for value in values)])
        names = "|".join(r"\s+".join(map(re.escape, name.split())) for name in fact.labels)
        patterns.append(rf"{_OF_THE_CASE}\b(?:{names})\b{_SAYS}(?!{right})(?:\$|USD\s*)?\d")
    return patterns


def _other_action(standard: StandardSpec) -> list[str]:
    """The favorable decision, as one that was taken or is taken."""
    said = standard.favorable
    assert said is not None, "checked when the spec is read"
    verbs, past, of = ("|".join(words) for words in (said.verbs, said.past, said.of))
    objects = "|".join((*said.of, *said.objects))
    tail = rf"(?![^.;!?]{{0,40}}\b{said.unless}\b)" if said.unless else ""
    has = r"\b(?:is|was|are|were|been|has|have|had|will\s+be)\s+"
    not_denied = r"(?:(?!\b(?:not|never)\b|n[’']t\b)[^.;!?]){0,60}?"
    return [
        rf"{_ASSERTED}\b(?:(?:decided|agreed|pleased|glad|happy)\s+to\s+(?:{verbs})|"
        rf"(?:we\s+(?:have\s+|had\s+)?{_ADVERBS}|(?:{of})\b{not_denied}{has}{_ADVERBS})"
        rf"(?:{past}))\b{tail}",
        rf"{_ASSERTED}\b(?:we|the\s+(?:plan|company|lender|bank))\s+"
        rf"(?:(?:will|shall|can|do)\s+)?{_ADVERBS}(?:{verbs})s?\s+"
        rf"(?:your|the|this)\s+(?:\w+\s+){{0,2}}?(?:{objects})\b{tail}",
    ]


def _prohibited_basis(standard: StandardSpec) -> list[str]:
    """A prohibited basis as the cause, as a factor, as what was taken into account."""
    who = "|".join(standard.people)
    age = rf"(?:your|(?:the\s+)?(?:{who})['’]s)\s+age|age\s+of\s+the\s+(?:{who})"
    basis = rf"(?:{'|'.join(standard.prohibited)}|{age})\b"
    return [
        rf"{_ASSERTED}\b(?:(?:because|on\s+account|on\s+the\s+basis)\s+of|(?:due|owing)\s+to|"
        r"based\s+(?:\w+\s+){0,2}(?:up)?on|"
        r"(?:reason|ground|basi|base|factor)s?\b[^.;!?]{0,60}?"
        r"(?:\b(?:is|are|was|were|included?s?)\b|:))\s+"
        rf"(?:[^.;!?]{{0,60}}?\b)?{basis}{_NO_PART}",
        rf"{_ASSERTED}\b{basis}[^.;!?]{{0,30}}?\b(?:was|were|is|are)\s+(?:\w+\s+){{0,2}}?"
        r"(?:factors?|reasons?|grounds?|considered|taken\s+into\s+account)\b",
        rf"{_ASSERTED}\b(?:took|taken|considered|weighed)\s+"
        rf"(?:[^.;!?]{{0,40}}?\b)?{basis}{_NO_PART}",
    ]


_OF_THE_STANDARD: Final[Mapping[str, Callable[[StandardSpec], Sequence[str]]]] = {
    "{other_action}": _other_action,
    "{prohibited_basis}": _prohibited_basis,
    "{withdrawn_reasons}": lambda _: (_WITHDRAWN,),
}
