"""Other ways to say the three standing clauses of a policy: precedence, rules in force, the rest.

A seeded generator that knows nothing of how retention is matched: it imports no code of the product
and was written first, from what a person who summarises a policy might write. A rewording is drawn
in four steps, each evenly: a frame (a sentence pattern of the clause), words for its slots from the
thesaurus below, a way to write the list in it (commas, arrows, numbers, pairs), and how it is led
in (nothing, a source, a date) and ended. What a function named `not_...` draws does not say the
same: it leaves something out, says it of another order, list or outcome, or denies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Final

DECISIONS: Final = {
    "deny": ["deny", "denial", "denying", "a denial", "decline", "rejection", "reject"],
    "refer": ["refer", "referral", "referring", "a referral", "escalation", "escalate"],
    "approve": ["approve", "approval", "approving", "an approval", "acceptance", "accept"],
    "pay": ["pay", "payment", "paying", "full payment", "pay in full"],
    "pay in part": ["pay in part", "partial payment", "paying in part", "part payment"],
    "release": ["release", "releasing", "a release", "the release"],
    "block": ["block", "blocking", "a block", "the block"],
    "accept": ["accept", "acceptance", "accepting", "an acceptance"],
    "reject": ["reject", "rejection", "rejecting", "a rejection"],
    "reverse": ["reverse", "reversal", "reversing", "a reversal"],
    "affirm": ["affirm", "affirmance", "affirming", "an affirmance"],
}
"""Nouns and verbs for what a policy calls a decision."""

_LEADS: Final = [
    "",
    "",
    "",
    "According to the policy, ",
    "Per part 4 of the policy: ",
    "As the committee put it, ",
    "Note: ",
    "Under the policy dated 2026-01-12, ",
    "In short: ",
    "* ",
]
_TAILS: Final = [
    ".",
    ".",
    ".",
    "",
    " (part 4 of the policy).",
    ", says the policy.",
    "; see part 4.",
    " for this file.",
]

_RANKED: Final = [
    "the order of precedence is {list}",
    "decisions rank as follows: {list}",
    "priority among outcomes: {list}",
    "when rules conflict, the ranking is {list}",
    "{list} is the order in which outcomes win",
    "if several rules hit, the winner is picked in this order: {list}",
    "precedence runs {list}",
    "order of priority, highest first: {list}",
    "the hierarchy of outcomes reads {list}",
    "conflicts are resolved in the sequence {list}",
]
_PAIRED: Final = [
    "{a} beats {b}",
    "{a} outranks {b}",
    "{a} takes precedence over {b}",
    "{a} comes before {b}",
    "{a} prevails over {b}",
    "{a} trumps {b}",
    "{a} has priority over {b}",
    "{a} overrides {b}",
    "{b} yields to {a}",
    "{b} gives way to {a}",
    "{b} ranks below {a}",
]
_FIRST: Final = [
    "{first} comes first, then {middle}, and {last} last",
    "{first} wins over all else, followed by {middle}, with {last} at the end",
    "first look for {first}, next for {middle}, finally for {last}",
    "{first} has the highest priority, {middle} the next, {last} the lowest",
]

_IN_FORCE: Final = [
    "the rules in force are {list}",
    "only {list} are in force",
    "{list} are the rules currently in effect",
    "in effect: {list}",
    "the applicable provisions are {list}",
    "the policy now consists of {list}",
    "active provisions: {list}",
    "{list} govern this decision",
    "the binding provisions are {list}",
    "provisions that apply: {list}",
    "rules in effect at the time of decision: {list}",
    "effective rules: {list}",
    "the operative rules are {list}",
    "decide under {list} and no other rule",
    "valid rules are {list}",
]
_NOT_IN_FORCE: Final = [
    "the rules no longer in force are {list}",
    "{list} are not in force",
    "{list} were repealed and no longer apply",
    "the provisions {list} have been withdrawn",
    "none of {list} is in effect",
]

_NONE_APPLIES: Final = [
    "if no rule applies",
    "if none of the rules applies",
    "where no provision is met",
    "when nothing else applies",
    "in all other cases",
    "otherwise",
    "absent any rule that fires",
    "if no condition is satisfied",
    "when no rule is triggered",
    "by default",
    "in the absence of an applicable rule",
    "if none of these provisions is met",
    "for everything else",
    "unless some rule applies",
]
_A_RULE_APPLIES: Final = [
    "if a rule applies",
    "if any provision is met",
    "when all rules apply",
    "where one of the rules fires",
]
_OUTCOME: Final = [
    "{when}, the outcome is {what}",
    "{when}, {do}",
    "{do} {when}",
    "the outcome is {what} {when}",
    "{when} the decision is to {do}",
    "{when}, the file ends in {what}",
    "{when} we {do}",
]


def precedence(rng: Random, order: Sequence[str]) -> str:
    """A sentence that says that the decisions win in this order; `order` holds a policy's verbs."""
    words = [rng.choice(DECISIONS[verb]) for verb in order]
    way = rng.randrange(3)
    if way == 0:
        said = rng.choice(_RANKED).format(list=_ordered(rng, words))
    elif way == 1:
        pairs = [rng.choice(_PAIRED).format(a=a, b=b) for a, b in pairwise(words)]
        said = rng.choice([" and ", ", and ", "; ", ", "]).join(pairs)
    else:
        middle = rng.choice([", then ", " and after that ", ", "]).join(words[1:-1])
        said = rng.choice(_FIRST).format(first=words[0], middle=middle, last=words[-1])
    return _sentence(rng, said)


def not_precedence(rng: Random, order: Sequence[str]) -> str:
    """A sentence on precedence that does not say this: one is left out, or two change places."""
    if rng.random() < 0.4:
        gone = rng.randrange(len(order))
        return precedence(rng, [verb for i, verb in enumerate(order) if i != gone])
    other = list(order)
    while other == list(order):
        rng.shuffle(other)
    return precedence(rng, other)


def in_force(rng: Random, codes: Sequence[str]) -> str:
    """A sentence that says that these are the rules in force."""
    listed = list(codes)
    if rng.random() < 0.5:
        rng.shuffle(listed)
    return _sentence(rng, rng.choice(_IN_FORCE).format(list=_listed(rng, listed)))


def not_in_force(rng: Random, codes: Sequence[str], others: Sequence[str]) -> str:
    """A sentence on rules in force that does not say this: one less, one more, or not in force."""
    listed, way = list(codes), rng.randrange(3)
    if way == 0:
        listed.pop(rng.randrange(len(listed)))
    elif way == 1:
        listed.insert(rng.randrange(len(listed) + 1), rng.choice(others))
    else:
        return _sentence(rng, rng.choice(_NOT_IN_FORCE).format(list=_listed(rng, listed)))
    return in_force(rng, listed)


def remaining(rng: Random, verb: str) -> str:
    """A sentence that says that this is decided where no rule applies."""
    return _outcome(rng, rng.choice(_NONE_APPLIES), verb)


def not_remaining(rng: Random, verb: str, others: Sequence[str]) -> str:
    """A sentence that does not say this: another outcome, a denial, or where a rule does apply."""
    way = rng.randrange(3)
    if way == 0:
        return _outcome(rng, rng.choice(_NONE_APPLIES), rng.choice(others))
    if way == 1:
        return _outcome(rng, rng.choice(_A_RULE_APPLIES), verb)
    said = rng.choice(["{when}, do not {do}", "{when}, never {do}", "{when} we must not {do}"])
    return _sentence(rng, said.format(when=rng.choice(_NONE_APPLIES), do=verb))


def _outcome(rng: Random, when: str, verb: str) -> str:
    nouns = [word for word in DECISIONS[verb] if word.endswith(("al", "ment", "ance", "ion"))]
    nouns = nouns or DECISIONS[verb][-2:]  # `release` and `block` are nouns as they are
    said = rng.choice(_OUTCOME).format(when=when, do=verb, what=rng.choice(nouns))
    return _sentence(rng, said)


def _ordered(rng: Random, words: Sequence[str]) -> str:
    way = rng.randrange(5)
    if way == 0:
        return " > ".join(words)
    if way == 1:
        return ", then ".join(words)
    if way == 2:
        return ", ".join(f"{n}) {word}" for n, word in enumerate(words, start=1))
    if way == 3:
        return " before ".join(words)
    return ", ".join(words)


def _listed(rng: Random, words: Sequence[str]) -> str:
    way = rng.randrange(4)
    if way == 0 and len(words) > 1:
        return f"{', '.join(words[:-1])} and {words[-1]}"
    if way == 1:
        return "; ".join(words)
    if way == 2:
        return " / ".join(words)
    return ", ".join(words)


def _sentence(rng: Random, said: str) -> str:
    lead, tail = rng.choice(_LEADS), rng.choice(_TAILS)
    whole = f"{lead}{said}{tail}"
    return whole if rng.random() < 0.1 else whole[:1].upper() + whole[1:]
