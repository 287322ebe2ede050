"""The passage to search with: the query as a statement."""

from __future__ import annotations

import re
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.hypothetical_document import (
    HypotheticalDocumentRequest,
    HypotheticalDocumentResponse,
)
from framework.registry import register
from framework.text.tokens import count_tokens

_ASKING: Final = re.compile(
    r"^(?:please\s+)?(?:who|whom|whose|what|which|when|where|why|how(?:\s+(?:many|much|long|often))?|"
    r"should|shall|can|could|may|does|do|did|is|are|was|were|has|have|will|would)\b\s*",
    re.IGNORECASE,
)


@register("rule", "hypothetical_document")
class HypotheticalDocumentRule(Rule[HypotheticalDocumentRequest, HypotheticalDocumentResponse]):
    """The query without its question words, as a statement.

    Rules know nothing that the query does not say. The passage adds no vocabulary, so that
    searching with it is close to searching with the query.
    """

    def answer(
        self, request: HypotheticalDocumentRequest, profile: Profile
    ) -> HypotheticalDocumentResponse:
        words = _ASKING.sub("", " ".join(request.query.split())).rstrip("?!. ").split()
        while words and count_tokens(f"{' '.join(words)}.") > request.limit_tokens:
            words.pop()
        statement = " ".join(words)
        passage = f"{statement[:1].upper()}{statement[1:]}." if statement else ""
        return HypotheticalDocumentResponse(passage=passage)
