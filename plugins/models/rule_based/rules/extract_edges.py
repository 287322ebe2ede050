"""How a document's kind and its links to others are read: by fixed cues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.extract_edges import (
    Candidate,
    ExtractEdgesRequest,
    ExtractEdgesResponse,
    Link,
    Relation,
)
from framework.registry import register
from framework.text.sentences import sentences
from plugins.models.rule_based.noise import is_missed

_CUE_FORMS: Final[tuple[tuple[Relation, bool, str], ...]] = (
    ("supersedes", True, r"\b(?:superseded|replaced|obsoleted) by\b"),
    ("supersedes", False, r"\b(?:supersedes?|superseding|replaces?|obsoletes?)\b"),
    ("supersedes", False, r"\b(?:takes? the place|(?:is a |as a )?replacement) (?:of|for)\b"),
    ("constrains", True, r"\b(?:constrained|bound|governed) by\b"),
    ("constrains", False, r"\b(?:constrains?|binds?|governs?)\b"),
    ("implements", True, r"\bimplemented by\b"),
    ("implements", False, r"\bimplements?\b|\bcarr(?:y|ies) out\b"),
    ("implements", False, r"\bputs? (?P<object>[^.;]+?) into practice\b"),
    ("derived_from", False, r"\bderive[sd]? from\b|\bfollows? from\b|\b(?:based|builds?) on\b"),
    ("requires", True, r"\b(?:required|needed) by\b"),
    ("requires", False, r"\brequires?\b|\b(?:depends?|relies|rely|dependent) (?:up)?on\b"),
    ("relates_to", False, r"\brelated to\b|\bdiscussed alongside\b"),
)
_CUES: Final = tuple(
    (relation, passive, re.compile(form, re.IGNORECASE)) for relation, passive, form in _CUE_FORMS
)
_NORM: Final = re.compile(
    r"\b(?:must|shall|requires?|proposes?|decided?|mandates?|fixes|defines?|specif(?:y|ies))\b",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"\b([A-Za-z]{2,})[-\s_#]{0,2}0*(\d+)\b")
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CLAUSE: Final = re.compile(r"[.,;:()]")
_DETERMINERS: Final = frozenset({"the", "a", "an", "its", "our", "this", "that", "these"})
_LEAST_WORDS: Final = 2
_MOST_WORDS: Final = 12


@register("rule", "extract_edges")
class ExtractEdgesRule(Rule[ExtractEdgesRequest, ExtractEdgesResponse]):
    """Edges by fixed cues in each sentence (`supersedes`, `is derived from`, `required by`).

    Each cue has a direction. What it speaks of is a candidate that the words after it name: by
    a name with a number (`PEP 345`), or by the longest run of words, at least one of them with
    a capital, that is in a candidate too, in that which has it most often. A candidate named
    without a cue is cited. A document that lays something down is a decision, any other a
    message.
    """

    def answer(self, request: ExtractEdgesRequest, profile: Profile) -> ExtractEdgesResponse:
        told = [
            sentence
            for sentence in sentences(request.document)
            if not is_missed(f"{self.name}: {sentence}", profile)
        ]
        names = _Names(request.candidates)
        links: dict[Link, None] = {}
        for sentence in told:
            links.update(dict.fromkeys(_links(sentence, names)))
        typed = {link.number for link in links if link.relation != "cites"}
        decided = any(_NORM.search(sentence) for sentence in told)
        return ExtractEdgesResponse(
            kind="decision" if decided else "message",
            links=tuple(
                link for link in links if link.relation != "cites" or link.number not in typed
            ),
        )


class _Names:
    """Which candidates a stretch of text names."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._by_reference = {
            (found[1].casefold(), int(found[2])): number
            for number, candidate in enumerate(candidates, 1)
            if (found := _REFERENCE.fullmatch(candidate.name))
        }
        self._texts = [_running(candidate.text) for candidate in candidates]

    def references(self, text: str) -> list[int]:
        """Candidates named with a number, in order; `PEPs 245 and 246` names the first only."""
        found = (
            self._by_reference.get((match[1].casefold(), int(match[2])))
            for match in _REFERENCE.finditer(text)
        )
        return [number for number in found if number is not None]

    def phrase(self, text: str) -> int | None:
        """The candidate that has the longest start of the text most often, the first of equals."""
        words = _WORD.findall(text)
        while words and words[0].casefold() in _DETERMINERS:
            words = words[1:]
        for length in range(min(len(words), _MOST_WORDS), _LEAST_WORDS - 1, -1):
            if not any(word[0].isupper() for word in words[:length]):
                return None  # no shorter run has a capital either
            run = _running(" ".join(words[:length]))
            counts = [candidate.count(run) for candidate in self._texts]
            most = max(counts, default=0)
            if most:
                return counts.index(most) + 1
        return None


def _links(sentence: str, names: _Names) -> Iterator[Link]:
    """What one sentence says: typed links by its cues, citations by the names left over."""
    for relation, passive, cue in _CUES:
        for match in cue.finditer(sentence):
            inside = match.groupdict().get("object")
            after = inside or _CLAUSE.split(sentence[match.end() :].lstrip(), maxsplit=1)[0]
            named = names.references(after)
            if not named:
                number = names.phrase(after)
                named = [] if number is None else [number]
            for number in named:
                yield Link(relation=relation, number=number, reverse=passive)
    for number in names.references(sentence):
        yield Link(relation="cites", number=number)


@lru_cache(maxsize=1 << 13)
def _running(text: str) -> str:
    """The words of a text in lower case, each between single spaces."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
