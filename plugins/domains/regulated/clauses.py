"""Whether a sentence says what a standing clause of the policy says, in whatever words.

The typed anchors of the three clauses: the codes in force as a set, the decisions in their order,
the decision of what remains. A sentence is held against them and against the clause's meaning: a
list with another code, an order with two decisions exchanged, a rule for another situation, and all
that is denied or withdrawn, say something else. Each clause must stand in one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from plugins.domains.regulated.policy import Policy

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "deny": ("decline", "reject", "refuse", "disapprove", "turn down", "turned down"),
    "approve": ("accept", "grant", "authorize", "allow", "green-light"),
    "refer": ("escalate", "hand up", "send up", "manual review", "human review"),
    "pay": ("pay in full", "paid in full", "full payment"),
    "pay in part": (
        *("partial payment", "part payment", "partially pay", "paid in part", "paying in part"),
        *("pay partially", "payment in part", "partial pay", "reduced payment"),
    ),
}
"""Other words for the verbs by which policies name decisions."""

_ENDING: Final = (
    r"(?:e|es|ed|ing|y|s|al|als|ion|ions|ance|ies|ied|ial|ials|ying|ment|ments|ral|rals|red|ring)?"
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|don't|doesn't|isn't|aren't|withdrawn|repealed|"
    r"rescinded|revoked|superseded|obsolete|former(?:ly)?|previous(?:ly)?|used to|suspended|void|"
    r"none of|except|instead of|rather than)\b",
    re.IGNORECASE,
)
_IN_FORCE: Final = re.compile(
    r"\b(?:force|effect(?:ive)?|appl(?:y|ies|ied|icable)|binding|bind|govern(?:s|ing)?|operative|"
    r"operat(?:e|es|ing)|active|current(?:ly)?|valid|count|controlling|control|stand|live|"
    r"(?:decide[sd]?|decision|measured) (?:under|by)|consists? of|compris\w+)\b",
    re.IGNORECASE,
)
_RANKING: Final = re.compile(
    r"\b(?:preced\w+|order|priorit\w+|rank\w*|hierarchy|sequence|conflict\w*|first|then|before|"
    r"ahead|over|above|below|after|beats?|outranks?|prevails?|wins?|trumps?|overrides?|next|last|"
    r"yields?|gives? way|defers? to|followed|supersedes?|comes?)\b|[>→<]",
    re.IGNORECASE,
)
_LOSES: Final = re.compile(
    r"\b(?:yields?|gives? way|defers? to|loses?|below|behind|subordinate|"
    r"(?:beaten|outranked|trumped|overridden|preceded) by|only after)\b|<",
    re.IGNORECASE,
)
_UPWARD: Final = re.compile(
    r"\b(?:lowest first|lowest to highest|least to most|ascending|last to first|reverse order|"
    r"weakest first)\b",
    re.IGNORECASE,
)
_NONE_APPLIES: Final = re.compile(
    r"\b(?:(?:no|none|nothing|neither|not any)\b.{0,60}?\b(?:appl\w+|fires?|fired|met|satisf\w+|"
    r"trigger\w*|match\w*|hits?|bites?|holds?|else|above|covers?)|otherwise|default|"
    r"(?:all|any|every)(?:thing)? (?:other|else|remaining)|(?:absent|absence|without|failing|"
    r"lacking)\b(?: \w+){0,3} (?:rule|provision|condition|criteri|clause|match)\w*|remain\w*|"
    r"residual|the rest|unless|left over)\b",
    re.IGNORECASE,
)


class Clauses:
    """The standing clauses of one case's policy.

    verbs : by decision, the policy's own phrase for it, then all others that the case may use.
    """

    def __init__(self, policy: Policy, verbs: Mapping[str, Sequence[str]]) -> None:
        self._policy = policy
        self._codes = frozenset(_parts(rule.code) for rule in policy.rules)
        self._heads = tuple(sorted({head for head, _ in self._codes}))
        self._names = _named(tuple((d, tuple(phrases)) for d, phrases in verbs.items()))

    def states(self, clause: str, sentence: str) -> bool:
        """Whether the sentence says what the clause of this name says; False for any other name."""
        match clause:
            case "rules_in_force":
                return self._lists(sentence)
            case "precedence":
                return self._ranks(sentence)
            case "remaining":
                return self._leaves(sentence)
        return False

    def _lists(self, sentence: str) -> bool:
        if not _IN_FORCE.search(sentence) or _DENIED.search(sentence):
            return False
        return frozenset(_codes(sentence, self._heads)) == self._codes

    def _ranks(self, sentence: str) -> bool:
        if not _RANKING.search(sentence) or _DENIED.search(sentence):
            return False
        found = self._mentions(sentence)
        order = {decision: place for place, decision in enumerate(self._policy.precedence)}
        pairs = [
            (one, other, sentence[end:start])
            for (_, end, one), (start, _, other) in pairwise(found)
            if one != other
        ]
        compared = [pair for pair in pairs if _COMPARES.search(pair[2])]
        # Where enough is compared by verbs, what parts two comparisons does not compare.
        if len(compared) >= len(order) - 1:
            pairs = compared
        wins = {(b, a) if _LOSES.search(between) else (a, b) for a, b, between in pairs}
        if _UPWARD.search(sentence):
            wins = {(b, a) for a, b in wins}
        wanted = set(pairwise(self._policy.precedence))
        known = _closed(wins)
        return wanted <= known and all(order[a] < order[b] for a, b in known)

    def _leaves(self, sentence: str) -> bool:
        if not _NONE_APPLIES.search(sentence) or _UNLESS_DENIED.search(sentence):
            return False
        return {decision for _, _, decision in self._mentions(sentence)} == {self._policy.remaining}

    def _mentions(self, sentence: str) -> list[tuple[int, int, str]]:
        """Decisions that are named, in order; of two that begin at one place the longer."""
        return [
            (match.start(), match.end(), self._names[1][match.lastgroup or ""])
            for match in self._names[0].finditer(sentence)
        ]


_COMPARES: Final = re.compile(
    r"\b(?:beats?|outranks?|preced\w+|priority|before|prevails?|trumps?|overrides?|over|above|below|"
    r"ahead|wins?|supersedes?|yields?|gives? way|defers? to|loses?|behind|by|after)\b|[><→]",
    re.IGNORECASE,
)
_UNLESS_DENIED: Final = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|don't|withdrawn|repealed|formerly|used to)\b(?! any\b)",
    re.IGNORECASE,
)


def _closed(wins: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    known = set(wins)
    while more := {(a, d) for a, b in known for c, d in known if b == c} - known:
        known |= more
    return known


def _parts(code: str) -> tuple[str, str]:
    """`UP-2` as (`up`, `2`), `Exclusion 9` as (`exclusion`, `9`)."""
    head, _, number = code.replace("-", " ").rpartition(" ")
    return head.casefold(), number.casefold()


def _codes(sentence: str, heads: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Codes named in a sentence; a head may have several numbers: `Exclusions 3, 5 and 9`."""
    for match in _coded(tuple(heads)).finditer(sentence):
        for number in re.findall(r"\d[\d.]*[a-z]?", match["numbers"]):
            yield match["head"].casefold(), number.rstrip(".").casefold()


@lru_cache(maxsize=256)
def _coded(heads: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(head) for head in heads)
    number = r"\d+(?:\.\d+)*[a-z]?\b"
    return re.compile(
        rf"\b(?P<head>{names})s?[\s-]+(?P<numbers>{number}(?:(?:\s*[,/;&]\s*|,?\s+and\s+){number})*)",
        re.IGNORECASE,
    )


@lru_cache(maxsize=256)
def _named(
    verbs: tuple[tuple[str, tuple[str, ...]], ...],
) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """A pattern of every name of every decision, longest first, and the decision of each group."""
    phrases = {
        phrase: decision
        for decision, given in verbs
        for phrase in (*given, *(other for one in given for other in SYNONYMS.get(one, ())))
    }
    ordered = sorted(phrases, key=len, reverse=True)
    groups = {f"n{i}": phrases[phrase] for i, phrase in enumerate(ordered)}
    named = "|".join(f"(?P<n{i}>{_form(phrase)})" for i, phrase in enumerate(ordered))
    return re.compile(rf"\b(?:{named})\b", re.IGNORECASE), groups


def _form(phrase: str) -> str:
    """A phrase in any form of its first word: `deny`, `denied`, `denial`; `pay in part`."""
    first, *rest = phrase.split()
    stem = re.escape(re.sub(r"(?<=\w\w)[ey]\Z", "", first) if not rest else first)
    if not rest and first.endswith(("ay", "oy", "ey")):
        stem = re.escape(first)
    ending = _ENDING if not rest else ""
    return r"\s+".join([stem + ending, *map(re.escape, rest)])
