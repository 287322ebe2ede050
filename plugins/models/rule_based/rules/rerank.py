"""How passages are put in order: by the share of the query's words that they hold."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.rerank import RerankRequest, RerankResponse
from framework.registry import register

_WORD: Final = re.compile(r"[^\W_]+")


@register("rule", "rerank")
class RerankRule(Rule[RerankRequest, RerankResponse]):
    """The share of the query's words that a passage holds, the rarer the heavier.

    Each word is weighted by how few of the passages hold it; equals keep their order. It is no
    cross-encoder, and an arm that uses it must not be named after one.
    """

    def answer(self, request: RerankRequest, profile: Profile) -> RerankResponse:
        asked = set(_words(request.query))
        held = [asked & set(_words(passage)) for passage in request.passages]
        frequency = Counter(word for words in held for word in words)
        scores = [
            sum(math.log1p(len(held) / frequency[word]) for word in sorted(words)) for words in held
        ]
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return RerankResponse(ranking=tuple(index + 1 for index in order))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
