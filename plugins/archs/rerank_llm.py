"""BM25, reranked by a language model."""

from __future__ import annotations

from collections.abc import Sequence

from framework.operations.rerank import Rerank, RerankRequest
from framework.registry import register
from plugins.archs._reranked import Reranked, RerankSettings


@register("arch", "rerank_llm")
class RerankLLM(Reranked[RerankSettings]):
    """BM25's best, put in order by one call to a model (listwise; RankGPT, Sun et al., EMNLP 2023).

    All candidates stand in one prompt, without the sliding window of the source. With the
    rule-based model the order is lexical and the arm equals `rerank_lexical`.
    """

    needs_model = True
    Settings = RerankSettings

    async def order(self, query: str, passages: Sequence[str]) -> Sequence[int]:
        request = RerankRequest(query=query, passages=tuple(passages))
        answer = await self.context.client.ask(Rerank(), request)
        return [number - 1 for number in answer.ranking]
