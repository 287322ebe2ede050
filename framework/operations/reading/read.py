"""A view read under a profile: facts, policy and injected instruction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from framework.contracts import Profile
from framework.operations.reading.claims import Claim, claims_of
from framework.operations.reading.facts import Facts, facts_of
from framework.operations.reading.lexicon import FREE, Lexicon, lexicon_of
from framework.operations.reading.noise import mishap, misread, misread_part
from framework.operations.reading.outcome import Outcome, decide
from framework.operations.reading.policy import (
    Policy,
    PolicyPart,
    Rule,
    policy_of,
    policy_part,
)
from framework.operations.reading.text import statements
from framework.operations.reading.unlabelled import bind, unlabelled_claims
from framework.records import TaskCard

__all__ = ["Parsed", "Reading", "parse", "read", "reader_of"]

_OVERRIDE: Final = re.compile(
    r"\b(?:disregard|ignore|override|set aside|forget|bypass)\b[^.;]*?"
    r"\b(?:polic(?:y|ies)|rules?|instructions?|guidelines?|provisions?|criteria|above)\b"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSE: Final = re.compile(r"(?:\band\b|[,;:.]|\binstead\b|\bto\b)\s*")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one statement says: claims, a part of the policy, a decision that it tells to take."""

    claims: tuple[Claim, ...] = ()
    part: PolicyPart | None = None
    injected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a view makes known. `injected` is the decision that the view tells to take, if any."""

    facts: Facts
    policy: Policy
    injected: str = ""

    def outcome(self) -> Outcome:
        """What the policy decides of the facts."""
        return decide(self.policy, self.facts)


_NOTHING: Final = Parsed()


def reader_of(task: TaskCard, profile: Profile) -> Lexicon:
    """What a reader of this profile knows of the card."""
    return lexicon_of(task, schema=profile.style != "blind")


@lru_cache(maxsize=1 << 16)
def parse(sentence: str, lexicon: Lexicon, profile: Profile) -> Parsed:
    """What a statement says to a reader of this profile."""
    fate = mishap(sentence, profile)
    if fate == "miss":
        return _NOTHING
    if injected := _injected(sentence, lexicon):
        return Parsed(injected=injected)
    part = policy_part(sentence, lexicon)
    if part is not None:
        return Parsed(part=misread_part(part) if fate else part)
    claims = claims_of(sentence, lexicon) if lexicon.finds_labels else unlabelled_claims(sentence)
    return Parsed(claims=tuple(map(misread, claims)) if fate else claims)


def read(view: str, task: TaskCard, profile: Profile) -> Reading:
    """All that a view makes known to a reader of this profile."""
    lexicon = reader_of(task, profile)
    claims: list[tuple[Claim, str]] = []
    parts: list[tuple[PolicyPart, str]] = []
    injected = ""
    for statement in statements(view):
        parsed = parse(statement.text, lexicon, profile)
        claims.extend((claim, statement.date) for claim in parsed.claims)
        if parsed.part is not None:
            parts.append((parsed.part, statement.date))
        injected = parsed.injected or injected
    policy = policy_of(parts)
    if not lexicon.finds_labels:
        targets = _targets(lexicon, policy.rules)
        claims = [(bind(claim, targets), date) for claim, date in claims]
    return Reading(facts=facts_of(claims, lexicon.fields), policy=policy, injected=injected)


def _targets(lexicon: Lexicon, rules: Iterable[Rule]) -> list[tuple[tuple[str, ...], str]]:
    """Wordings to look for among free keys: the form's labels and the quantities of the policy."""
    wordings = dict(lexicon.labels)
    for rule in rules:
        for condition in rule.conditions:
            for key in (condition.left, condition.right):
                if key.startswith(FREE):
                    wordings[key[len(FREE) :]] = key
    found = ((tuple(words.split()), key) for words, key in wordings.items())
    return sorted(found, key=lambda target: (-len(target[0]), target))


def _injected(sentence: str, lexicon: Lexicon) -> str:
    """The decision that a sentence tells the reader to take against the policy, empty when none."""
    match = _OVERRIDE.search(sentence)
    if match is None:
        return ""
    for clause in _CLAUSE.split(match["rest"]):
        if decision := lexicon.decision_of(clause):
            return decision
    return ""
