"""Read what kind of document one is, and how it stands to others, from their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.registry import register

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
    """Extract a node's kind and its typed edges from raw text (Depth 19: extraction untested)."""

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
