"""Write a passage that would answer a query, to search with (HyDE, Gao et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.operations.prompted import PromptedOperation
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalDocumentRequest:
    """The query, and the limit of the passage in tokens."""

    query: str
    limit_tokens: int = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalDocumentResponse:
    """The passage: to search with, never to be shown to a reader."""

    passage: str


@register("operation", "hypothetical_document")
class HypotheticalDocument(
    PromptedOperation[HypotheticalDocumentRequest, HypotheticalDocumentResponse]
):
    """Write a passage, in the style of a record, that answers a query."""

    response = HypotheticalDocumentResponse
    slots = frozenset({"query", "limit"})

    def fill(self, request: HypotheticalDocumentRequest) -> Mapping[str, str]:
        return {"query": request.query, "limit": str(request.limit_tokens)}
