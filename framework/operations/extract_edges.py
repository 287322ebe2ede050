"""Read what kind of document one is, and how it stands to others, from their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.registry import register

Relation = Literal[
    "supersedes", "constrains", "implements", "requires", "derived_from", "cites", "relates_to"
]
Kind = Literal["decision", "message"]


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

    relation: Relation
    number: int
    reverse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractEdgesResponse:
    """The document's kind and its links, each once."""

    kind: Kind
    links: tuple[Link, ...] = ()


@register("operation", "extract_edges")
class ExtractEdges(PromptedOperation[ExtractEdgesRequest, ExtractEdgesResponse]):
    """Extract a node's kind and its typed edges from raw text (Depth 19: extraction untested)."""

    response = ExtractEdgesResponse
    slots = frozenset({"document", "candidates", "relations", "kinds"})

    def fill(self, request: ExtractEdgesRequest) -> Mapping[str, str]:
        fenced = (
            f'<candidate number="{number}" name="{candidate.name}">\n{candidate.text}\n</candidate>'
            for number, candidate in enumerate(request.candidates, 1)
        )
        return {
            "document": request.document,
            "candidates": "\n".join(fenced) or "(none)",
            "relations": ", ".join(f'"{relation}"' for relation in get_args(Relation)),
            "kinds": " or ".join(f'"{kind}"' for kind in get_args(Kind)),
        }

    def schema(self, request: ExtractEdgesRequest) -> Mapping[str, Any] | None:
        """The files' form, held to the candidates' numbers."""
        schema: Any = super().schema(request)
        links = schema["properties"]["links"]
        number, most = links["items"]["properties"]["number"], len(request.candidates)
        number["minimum"], number["maximum"] = 1, max(1, most)
        links["maxItems"] = links["maxItems"] if most else 0
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: ExtractEdgesRequest) -> ExtractEdgesResponse:
        found = super().parse(text, request)
        for link in found.links:
            _json.check_number(link.number, 1, len(request.candidates))
        return replace(found, links=tuple(dict.fromkeys(found.links)))
