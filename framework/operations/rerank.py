"""Put passages in the order in which they help to answer a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.operations.prompted import PromptedOperation
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankRequest:
    """The query and the texts of the passages, in the order in which they were recalled."""

    query: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankResponse:
    """Numbers of the passages, from 1 in the order of the request, the most helpful first."""

    ranking: tuple[int, ...]


@register("operation", "rerank")
class Rerank(PromptedOperation[RerankRequest, RerankResponse]):
    """Rerank recalled passages for a query: every passage exactly once, none dropped."""

    response = RerankResponse
    slots = frozenset({"query", "passages", "count"})

    def fill(self, request: RerankRequest) -> Mapping[str, str]:
        fenced = (
            f'<passage number="{number}">\n{text}\n</passage>'
            for number, text in enumerate(request.passages, 1)
        )
        return {
            "query": request.query,
            "passages": "\n".join(fenced),
            "count": str(len(request.passages)),
        }

    def parse(self, text: str, request: RerankRequest) -> RerankResponse:
        found = super().parse(text, request)
        n = len(request.passages)
        if sorted(found.ranking) != list(range(1, n + 1)):
            raise ValueError(f"ranking: each of 1 to {n} once expected, got {found.ranking}")
        return found
