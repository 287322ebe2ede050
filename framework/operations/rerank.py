"""Put passages in the order in which they help to answer a query."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.registry import register

__all__ = ["Rerank", "RerankRequest", "RerankResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankRequest:
    """The query and the texts of the passages, in the order in which they were recalled."""

    query: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankResponse:
    """Numbers of the passages, from 1 in the order of the request, the most helpful first."""

    ranking: tuple[int, ...]


_WORD: Final = re.compile(r"[^\W_]+")


@register("operation", "rerank")
class Rerank(PromptedOperation[RerankRequest, RerankResponse]):
    """Rerank recalled passages by a query: every passage exactly once, none dropped.

    The rule-based answer is lexical: the share of the query's words that a passage holds, each
    weighted by how few of the passages hold it; equals keep their order. It is no cross-encoder,
    and an arm that uses it must not be named after one.
    """

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
        data = self.json_object(text)
        _json.expect_keys(data, ("ranking",))
        ranking = data["ranking"]
        numbers = list(range(1, len(request.passages) + 1))
        whole = isinstance(ranking, list) and all(type(number) is int for number in ranking)
        if not whole or sorted(ranking) != numbers:
            raise ValueError(f"ranking: each of 1 to {len(numbers)} once expected, got {ranking!r}")
        return RerankResponse(ranking=tuple(ranking))

    def offline(self, request: RerankRequest, profile: Profile) -> RerankResponse:
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
