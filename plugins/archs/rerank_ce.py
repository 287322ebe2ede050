"""BM25, reranked by a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from framework.contracts import ArchContext
from framework.errors import UserError
from framework.registry import register
from plugins.archs._bm25 import top
from plugins.archs._reranked import Reranked, RerankSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankCESettings(RerankSettings):
    """Settings of `arch=rerank_ce`, besides those of reranking.

    model : a cross-encoder's directory, or its id, which sentence-transformers then fetches.
    max_length : tokens of the model that a query and an event may have together, at least 8.
    """

    model: str = "cross-encoder/ms-marco-MiniLM-L-6-v2"
    max_length: int = 512

    def __post_init__(self) -> None:
        RerankSettings.__post_init__(self)
        if self.max_length < 8:
            raise ValueError(f"max_length must be at least 8, {self.max_length} given")


@register("arch", "rerank_ce")
class RerankCE(Reranked[RerankCESettings]):
    """BM25's best, scored pair by pair by a cross-encoder (Nogueira and Cho 2019; Depth 5.1).

    Needs the package sentence-transformers and a model: UserError where either is not there. Runs
    on the CPU, so that the same machine gives the same scores; ties keep the first stage's order.
    """

    Settings = RerankCESettings

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
