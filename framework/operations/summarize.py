"""Fold new documents into a running summary under a token limit (LongHorizon 5, Summ-only)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.operations._card import documents_text
from framework.operations._json import longest_text
from framework.operations.prompted import PromptedOperation
from framework.registry import register

_WHOLE_ESCAPES: Final = re.compile(r"(?:[^\\]|\\u[0-9a-fA-F]{4}|\\[^u])*")
_HALF_A_PAIR: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeRequest:
    """The summary so far, the documents to fold in, in order, and the limit in tokens."""

    summary: str
    chunks: tuple[str, ...]
    limit_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeResponse:
    """The new summary, which replaces the old one."""

    summary: str


@register("operation", "summarize")
class Summarize(PromptedOperation[SummarizeRequest, SummarizeResponse]):
    """Fold new documents into a running summary, with a prompt to preserve facts."""

    response = SummarizeResponse
    slots = frozenset({"summary", "documents", "limit"})

    def fill(self, request: SummarizeRequest) -> Mapping[str, str]:
        return {
            "summary": request.summary,
            "documents": documents_text(request.chunks),
            "limit": str(request.limit_tokens),
        }

    def schema(self, request: SummarizeRequest) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        schema["properties"]["summary"]["maxLength"] = longest_text(request.limit_tokens)
        return dict(schema)

    def parse_cut(self, text: str, request: SummarizeRequest, tokens: int) -> SummarizeResponse:
        """As far as it was written: whoever asked cuts a summary that is too long, too."""
        whole = _WHOLE_ESCAPES.match(text)
        assert whole is not None
        return self.parse(_HALF_A_PAIR.sub("", whole[0]) + '"}', request)
