"""What a letter can't say: items of a standard whose words are in none of its parts."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from plugins.domains.regulated.spec import Spec

_log = logging.getLogger(__name__)

PLAIN: Final = (
    "{particulars}\nWe decided to {decision} your application. Reasons: {reasons}. "
    "Provisions applied: {provisions}."
)
"""The letter of the rule-based model where it knows no form of the standard."""
BY_HEART: Final = frozenset(
    {
        *("12 CFR 1002.9", "10 CCR 2695.7(b)", "29 CFR 2560.503-1(g)"),
        *("24 CFR 982.555(e)(6)", "ISO/IEC 17025:2017, 7.10", "Fernhill Change Standard 4.2"),
    }
)
"""The standards of which it knows one."""
_MET_BY: Final = {
    "{each_reason}": "{reasons}",
    "{each_provision}": "{provisions}",
    "{each_provision_text}": "{provision_text}",
}


def lacking(spec: Spec, letter: str) -> list[str]:
    """Items of the standard that ask for something which the letter's form does not hold."""
    letter = letter.replace("{particulars}", " ".join(spec.particulars))
    filled = [letter.replace("{decision}", spec.verbs[decision]) for decision in spec.adverse]
    return [
        item.id
        for item in spec.standard.items.values()
        if not all(_holds(text, group) for text in filled for group in item.requires)
    ]


def _holds(letter: str, group: Sequence[str]) -> bool:
    """Whether the letter has a match of the group, or a placeholder that is filled with one.

    A pattern of figures may match what is filled in: it is taken to.
    """
    text = " ".join(letter.split())
    return any(
        _MET_BY.get(form, form) in letter or r"\d" in form or re.search(form, text, re.IGNORECASE)
        for form in group
    )


def warn(spec: Spec, told: str) -> None:
    """Say, once a spec, which items the letter can't meet by what the task tells of the notice."""
    if told == "given" and spec.notice:
        _warn(
            spec.file,
            lacking(spec, spec.notice),
            "the form `notice` does not hold what they ask for",
        )
    elif told == "named" and not any(cited in spec.standard.name for cited in BY_HEART):
        form = (
            "the spec's form of the notice"
            if spec.notice
            else "the form `notice`, if there is one,"
        )
        why = f"no letter of the rule-based model meets them, as it knows no {spec.standard.name}"
        _warn(
            spec.file, lacking(spec, PLAIN), f"{why}; domain.notice=given puts {form} in the task"
        )


def _warn(file: str, items: Sequence[str], told: str) -> None:
    if items:
        _once(f"{file}: standard.items: {', '.join(items)}: {told}")


@lru_cache(maxsize=64)
def _once(line: str) -> None:
    _log.warning("%s", line)
