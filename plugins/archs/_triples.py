"""What a model reads of a text for a graph of phrases: triples of an event, names of a query.

Source: Jiménez Gutiérrez et al., "HippoRAG: Neurobiologically Inspired Long-Term Memory for Large
Language Models", NeurIPS 2024.

Both operations are asked under `arch=graph_ppr` with `phrases=model` alone, whose identity holds
their prompts: registered, they would be a part of every run's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Final

from framework.contracts import Profile, Rule
from framework.operations.prompted import PromptedOperation
from framework.registry import register
from framework.text.sentences import sentences
from plugins.archs._phrases import phrases

_PROMPTS: Final = Path(__file__).with_name("prompts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A relation that a text states between two things, each in its words."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractTriplesRequest:
    """The text of one document."""

    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractTriplesResponse:
    """Its triples, in the order given; none where it states no relation."""

    triples: tuple[Triple, ...]


class ExtractTriples(PromptedOperation[ExtractTriplesRequest, ExtractTriplesResponse]):
    """Open information extraction from one document (HippoRAG, section 2.3).

    One call, where the source first asks for the named entities and then for triples with them.
    """

    name = "extract_triples"
    prompts: ClassVar[Path] = _PROMPTS
    response = ExtractTriplesResponse
    slots = frozenset({"document"})

    def fill(self, request: ExtractTriplesRequest) -> Mapping[str, str]:
        return {"document": request.document}


@register("rule", "extract_triples")
class ExtractTriplesRule(Rule[ExtractTriplesRequest, ExtractTriplesResponse]):
    """Phrases by rule; neighbours in a sentence are related by co-occurrence.

    Of every sentence each phrase is related to the next one, names before words. No relation is
    read, and a sentence of one phrase gives no triple. The profile has no part in it.
    """

    def answer(self, request: ExtractTriplesRequest, profile: Profile) -> ExtractTriplesResponse:
        found = dict.fromkeys(
            Triple(subject=one, relation="stands with", object=other)
            for sentence in sentences(request.document)
            for one, other in pairwise(dict.fromkeys(phrases(sentence)))
        )
        return ExtractTriplesResponse(triples=tuple(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class NameEntitiesRequest:
    """What a memory is asked with."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NameEntitiesResponse:
    """The things that it names, in its words."""

    entities: tuple[str, ...]


class NameEntities(PromptedOperation[NameEntitiesRequest, NameEntitiesResponse]):
    """The named entities of a query (HippoRAG, section 2.3)."""

    name = "name_entities"
    prompts: ClassVar[Path] = _PROMPTS
    response = NameEntitiesResponse
    slots = frozenset({"query"})

    def fill(self, request: NameEntitiesRequest) -> Mapping[str, str]:
        return {"query": request.query}


@register("rule", "name_entities")
class NameEntitiesRule(Rule[NameEntitiesRequest, NameEntitiesResponse]):
    """Phrases by rule, each once: names, content words and figures."""

    def answer(self, request: NameEntitiesRequest, profile: Profile) -> NameEntitiesResponse:
        return NameEntitiesResponse(entities=tuple(dict.fromkeys(phrases(request.query))))
