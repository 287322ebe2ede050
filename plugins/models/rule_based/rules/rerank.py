"""How passages are put in order: by the share of the query's words that they hold."""

from __future__ import annotations

import re
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.rerank import RerankRequest, RerankResponse
from framework.registry import register
from plugins.models.rule_based.rarity import rarity

_WORD: Final = re.compile(r"[^\W_]+")


@register("rule", "rerank")
class RerankRule(Rule[RerankRequest, RerankResponse]):
    """By the share of the query's words in a passage, weighted by rarity.

    Each word is weighted by how few of the passages hold it; equals keep their order. It is no
    cross-encoder, and an arm that uses it must not be named after one.
    """

    def answer(self, request: RerankRequest, profile: Profile) -> RerankResponse:
        scores = rarity(_words(request.query), [_words(passage) for passage in request.passages])
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return RerankResponse(ranking=tuple(index + 1 for index in order))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
