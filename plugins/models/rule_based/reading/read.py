"""A view read under a profile: facts, policy and injected instruction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from framework.contracts import Profile
from framework.records import TaskCard
from plugins.models.rule_based.dated import Statement, statements
from plugins.models.rule_based.noise import is_missed, noise_on
from plugins.models.rule_based.reading.claims import Claim, claims_of
from plugins.models.rule_based.reading.facts import Facts, facts_of
from plugins.models.rule_based.reading.files import own_documents
from plugins.models.rule_based.reading.lexicon import FREE, Lexicon, lexicon_of
from plugins.models.rule_based.reading.misread import misread, misread_part
from plugins.models.rule_based.reading.outcome import Outcome, decide
from plugins.models.rule_based.reading.policy import (
    Policy,
    PolicyPart,
    PolicyRule,
    policy_of,
    policy_part,
)
from plugins.models.rule_based.reading.unlabelled import bind, unlabelled_claims

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


class Understood(NamedTuple):
    """A statement and what it says."""

    statement: Statement
    says: Parsed


def reader_of(task: TaskCard, profile: Profile) -> Lexicon:
    """What a reader of this profile knows of the card."""
    return lexicon_of(task, schema=profile.style != "blind")


@lru_cache(maxsize=1 << 16)
def parse(sentence: str, lexicon: Lexicon, profile: Profile) -> Parsed:
    """What a statement says to a reader of this profile who does not miss it."""
    confused = noise_on(sentence, profile) == "confuse"
    if injected := _injected(sentence, lexicon):
        return Parsed(injected=injected)
    part = policy_part(sentence, lexicon)
    if part is not None:
        return Parsed(part=misread_part(part) if confused else part)
    claims = claims_of(sentence, lexicon) if lexicon.finds_labels else unlabelled_claims(sentence)
    return Parsed(claims=tuple(map(misread, claims)) if confused else claims)


def understand(found: Iterable[Statement], task: TaskCard, profile: Profile) -> list[Understood]:
    """What each statement says, in order, claims bound to keys as far as the reader can.

    A statement that a noisy reader misses is not among them.
    """
    lexicon = reader_of(task, profile)
    seen = (s for s in found if not is_missed(s.text, profile))
    parsed = [(statement, parse(statement.text, lexicon, profile)) for statement in seen]
    if not lexicon.finds_labels:
        targets = _targets(lexicon, (p.part for _, p in parsed if isinstance(p.part, PolicyRule)))
        parsed = [
            (s, replace(p, claims=tuple(bind(claim, targets) for claim in p.claims)))
            for s, p in parsed
        ]
    return [Understood(statement, says) for statement, says in parsed]


def make_out(understood: Iterable[Understood], task: TaskCard, profile: Profile) -> Reading:
    """What statements make known together."""
    claims: list[tuple[Claim, str]] = []
    parts: list[tuple[PolicyPart, str]] = []
    injected = ""
    for statement, says in understood:
        claims.extend((claim, statement.date) for claim in says.claims)
        if says.part is not None:
            parts.append((says.part, statement.date))
        injected = says.injected or injected
    facts = facts_of(claims, reader_of(task, profile).fields)
    return Reading(facts=facts, policy=policy_of(parts), injected=injected)


def read(view: str, task: TaskCard, profile: Profile) -> Reading:
    """All that a view makes known to a reader of this profile, of the file that is asked about."""
    own = own_documents(view, task.query)
    return make_out(understand(statements(own), task, profile), task, profile)


def _targets(lexicon: Lexicon, rules: Iterable[PolicyRule]) -> list[tuple[tuple[str, ...], str]]:
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
