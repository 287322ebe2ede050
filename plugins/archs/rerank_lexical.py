"""BM25, reranked by the share of the query that an event covers."""

from __future__ import annotations

from collections.abc import Sequence

from framework.contracts import answer_by_rule
from framework.operations.rerank import Rerank, RerankRequest
from framework.registry import register
from plugins.archs._reranked import Reranked, RerankSettings


@register("arch", "rerank_lexical")
class RerankLexical(Reranked[RerankSettings]):
    """BM25's best, put in order by how much of the query each covers: words alone, no encoder.

    The order is that of the rule for the operation `rerank`: the query's distinct words
    that an event holds, each weighted by how few of the candidates hold it; ties keep their order.
    It is not the cross-encoder of Depth 5.1, which is `rerank_ce`.
    """

    Settings = RerankSettings

    async def order(self, query: str, passages: Sequence[str]) -> Sequence[int]:
        request = RerankRequest(query=query, passages=tuple(passages))
        return [number - 1 for number in answer_by_rule(Rerank(), request).ranking]
