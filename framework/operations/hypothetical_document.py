"""Write a passage that would answer a query, to search with (HyDE, Gao et al. 2023)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.registry import register
from framework.text.tokens import count_tokens

__all__ = [
    "HypotheticalDocument",
    "HypotheticalDocumentRequest",
    "HypotheticalDocumentResponse",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalDocumentRequest:
    """The query, and the limit of the passage in tokens."""

    query: str
    limit_tokens: int = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalDocumentResponse:
    """The passage: to search with, never to be shown to a reader."""

    passage: str


_ASKING: Final = re.compile(
    r"^(?:please\s+)?(?:who|whom|whose|what|which|when|where|why|how(?:\s+(?:many|much|long|often))?|"
    r"should|shall|can|could|may|does|do|did|is|are|was|were|has|have|will|would)\b\s*",
    re.IGNORECASE,
)


@register("operation", "hypothetical_document")
class HypotheticalDocument(
    PromptedOperation[HypotheticalDocumentRequest, HypotheticalDocumentResponse]
):
    """Write a passage such as a record would hold that answers a query.

    Rules know nothing that the query does not say: the rule-based passage is the query without its
    question words, as a statement. It adds no vocabulary, so that searching with it is close to
    searching with the query.
    """

    slots = frozenset({"query", "limit"})

    def fill(self, request: HypotheticalDocumentRequest) -> Mapping[str, str]:
        return {"query": request.query, "limit": str(request.limit_tokens)}

    def parse(
        self, text: str, request: HypotheticalDocumentRequest
    ) -> HypotheticalDocumentResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("passage",))
        return HypotheticalDocumentResponse(passage=_json.text(data, "passage"))

    def offline(
        self, request: HypotheticalDocumentRequest, profile: Profile
    ) -> HypotheticalDocumentResponse:
        words = _ASKING.sub("", " ".join(request.query.split())).rstrip("?!. ").split()
        while words and count_tokens(f"{' '.join(words)}.") > request.limit_tokens:
            words.pop()
        statement = " ".join(words)
        passage = f"{statement[:1].upper()}{statement[1:]}." if statement else ""
        return HypotheticalDocumentResponse(passage=passage)
