"""BM25 whose best are put in order again: by words, by a language model, by a cross-encoder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, TypeVar

import numpy as np

from framework.bounds import at_least
from framework.contracts import Arch, ArchContext, Query, answer_by_rule
from framework.errors import UserError
from framework.operations.rerank import Rerank, RerankRequest
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import BM25Index, BM25Settings, top
from plugins.archs._items import ranked_items


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankSettings(BM25Settings):
    """Settings of every reranking arm, besides those of BM25.

    candidates : number of the first stage's best events to rerank, at least 1; the rest follow in
        the order of the first stage.
    """

    candidates: Annotated[int, at_least(1)] = 50


S = TypeVar("S", bound=RerankSettings)


class Reranked(Arch[S]):
    """BM25, then another order of its best."""

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._index = BM25Index([event.text for event in self._events], self.settings)

    @abstractmethod
    async def order(self, query: str, passages: Sequence[str]) -> Sequence[int]:
        """Places of all the passages, the best first."""

    async def recall(self, query: Query, k: int) -> Sequence[Item]:
        if not self._events or k < 1:
            return []
        scores = self._index.scores(query.text)
        first = top(scores, max(k, self.settings.candidates))
        best = first[: self.settings.candidates]
        again = await self.order(query.text or "", [self._events[int(i)].text for i in best])
        order = np.concatenate((best[np.asarray(again, dtype=np.int64)], first[len(best) :]))[:k]
        ranks = {int(i): rank for rank, i in enumerate(first, start=1)}
        signals = {
            "bm25": scores[order],
            "bm25_rank": np.array([ranks[int(i)] for i in order], dtype=np.int64),
        }
        return ranked_items(self._events, order, signals)


@register("arch", "rerank_lexical")
class RerankLexical(Reranked[RerankSettings]):
    """The best of BM25, reranked by the share of the query's words that each contains.

    The order is that of the rule for the operation `rerank`: the query's distinct words
    that an event holds, each weighted by how few of the candidates hold it; ties keep their order.
    It is not the cross-encoder of Depth 5.1, which is `rerank_ce`.
    """

    async def order(self, query: str, passages: Sequence[str]) -> Sequence[int]:
        request = RerankRequest(query=query, passages=tuple(passages))
        return [number - 1 for number in answer_by_rule(Rerank(), request).ranking]


@register("arch", "rerank_llm")
class RerankLLM(Reranked[RerankSettings]):
    """The best of BM25, reranked by one model call (listwise; RankGPT, Sun et al., EMNLP 2023).

    All candidates stand in one prompt, without the sliding window of the source. With the
    rule-based model the order is lexical and the arm equals `rerank_lexical`.
    """

    needs_model = True

    async def order(self, query: str, passages: Sequence[str]) -> Sequence[int]:
        request = RerankRequest(query=query, passages=tuple(passages))
        answer = await self.context.client.ask(Rerank(), request)
        return [number - 1 for number in answer.ranking]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankCESettings(RerankSettings):
    """Settings of `arch=rerank_ce`, besides those of reranking.

    model : a cross-encoder's directory, or its id, which sentence-transformers then downloads.
    max_length : most tokens (of the cross-encoder) of query and event together, at least 8.
    """

    model: str = "cross-encoder/ms-marco-MiniLM-L-6-v2"
    max_length: Annotated[int, at_least(8)] = 512


@register("arch", "rerank_ce")
class RerankCE(Reranked[RerankCESettings]):
    """The best of BM25, reranked by a cross-encoder (Nogueira and Cho 2019; Depth 5.1).

    Needs the package sentence-transformers and a model: UserError where either is not there. Runs
    on the CPU, so that the same machine gives the same scores; ties keep the first stage's order.
    """

    def __init__(self, settings: RerankCESettings, context: ArchContext) -> None:
        super().__init__(settings, context)
        _encoder(settings.model, settings.max_length)  # a mistake shows before anything runs

    async def order(self, query: str, passages: Sequence[str]) -> Sequence[int]:
        encoder = _encoder(self.settings.model, self.settings.max_length)
        scores = encoder.predict([(query, p) for p in passages], show_progress_bar=False)
        best: list[int] = top(np.asarray(scores, dtype=np.float64).ravel(), len(passages)).tolist()
        return best


@lru_cache(maxsize=2)
def _encoder(model: str, max_length: int) -> Any:
    """The cross-encoder, loaded once a process."""
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        raise UserError(
            "arch=rerank_ce needs a cross-encoder: pip install sentence-transformers "
            "(arch=rerank_lexical needs none)"
        ) from None
    try:
        return CrossEncoder(model, max_length=max_length, device="cpu")
    except (OSError, ValueError) as error:
        why = str(error).strip().split("\n", 1)[0]
        raise UserError(f"arch.model: {model!r} can't be loaded: {why}") from None
