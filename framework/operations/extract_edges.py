"""Read what kind of document one is, and how it stands to others, from their texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.noise import mishap
from framework.registry import register
from framework.text.sentences import sentences

__all__ = ["Candidate", "ExtractEdges", "ExtractEdgesRequest", "ExtractEdgesResponse", "Link"]

RELATIONS: Final = (
    "supersedes",
    "constrains",
    "implements",
    "requires",
    "derived_from",
    "cites",
    "relates_to",
)
KINDS: Final = ("decision", "message")

_CUES: Final[tuple[tuple[str, bool, re.Pattern[str]], ...]] = tuple(
    (relation, passive, re.compile(pattern, re.IGNORECASE))
    for relation, passive, pattern in (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Another document: the name it has in the record, and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractEdgesRequest:
    """One document, and the others that it may speak of."""

    document: str
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The document bears `relation` to the candidate of this number, from 1 in the request.

    reverse : it is the candidate that bears it to the document.
    """

    relation: str
    number: int
    reverse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractEdgesResponse:
    """The document's kind, one of `KINDS`, and its links, each once."""

    kind: str
    links: tuple[Link, ...] = ()


@register("operation", "extract_edges")
class ExtractEdges(PromptedOperation[ExtractEdgesRequest, ExtractEdgesResponse]):
    """Extract a node's kind and its typed edges from raw text (Depth 19: extraction untested).

    The rule-based answer goes sentence by sentence by fixed cues (`supersedes`, `is derived from`,
    `required by`), each with a direction. What a cue speaks of is a candidate that the words after
    it name: by a name with a number (`PEP 345`), or by the longest run of words, at least one of
    them with a capital, that stands in a candidate too, in that which has it most often. A
    candidate named without a cue is cited. A document that lays something down is a decision, any
    other a message.
    """

    slots = frozenset({"document", "candidates", "relations", "kinds"})

    def fill(self, request: ExtractEdgesRequest) -> Mapping[str, str]:
        fenced = (
            f'<candidate number="{number}" name="{candidate.name}">\n{candidate.text}\n</candidate>'
            for number, candidate in enumerate(request.candidates, 1)
        )
        return {
            "document": request.document,
            "candidates": "\n".join(fenced) or "(none)",
            "relations": ", ".join(f'"{relation}"' for relation in RELATIONS),
            "kinds": " or ".join(f'"{kind}"' for kind in KINDS),
        }

    def parse(self, text: str, request: ExtractEdgesRequest) -> ExtractEdgesResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("kind", "links"))
        kind = _json.text(data, "kind")
        if kind not in KINDS:
            raise ValueError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
        links: dict[Link, None] = {}
        for entry in _json.objects(data, "links"):
            _json.expect_keys(entry, ("relation", "number", "reverse"))
            relation, number = _json.text(entry, "relation"), entry["number"]
            if relation not in RELATIONS:
                raise ValueError(f"relation: {relation!r} is none of {', '.join(RELATIONS)}")
            most = len(request.candidates)
            if not _json.whole_within(number, 1, most):
                raise ValueError(f"number: 1 to {most} expected, got {number!r}")
            reverse = _json.truth(entry, "reverse")
            links[Link(relation=relation, number=number, reverse=reverse)] = None
        return ExtractEdgesResponse(kind=kind, links=tuple(links))

    def offline(self, request: ExtractEdgesRequest, profile: Profile) -> ExtractEdgesResponse:
        told = [
            sentence
            for sentence in sentences(request.document)
            if mishap(f"{self.name}: {sentence}", profile) != "miss"
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
