"""What to search for next, with what has been read so far (IRCoT, Trivedi et al. 2023)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._lexical import words_of
from framework.operations.prompted import PromptedOperation
from framework.registry import register

__all__ = ["NextQuery", "NextQueryRequest", "NextQueryResponse"]

_TERMS: Final = 6
_SHORTEST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NextQueryRequest:
    """The task's instruction, the queries asked so far, and the passages read, in their order."""

    instruction: str
    asked: tuple[str, ...]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextQueryResponse:
    """The next query; empty when nothing more is to be searched for."""

    query: str


@register("operation", "next_query")
class NextQuery(PromptedOperation[NextQueryRequest, NextQueryResponse]):
    """Propose the next query, or stop.

    The rule-based answer is pseudo relevance feedback (after Rocchio 1971): the six words of the
    passages that weigh most and that no query so far holds. A word weighs its share of a passage
    over the passage's place, summed, times ln(1 + n / number of passages that hold it); figures and
    words of one or two letters are left out, ties go to the word that is read first. It stops when
    no word is left.
    """

    slots = frozenset({"instruction", "asked", "passages"})

    def fill(self, request: NextQueryRequest) -> Mapping[str, str]:
        return {
            "instruction": request.instruction,
            "asked": "\n".join(f"{n}. {query}" for n, query in enumerate(request.asked, 1)),
            "passages": "\n".join(f"<passage>\n{text}\n</passage>" for text in request.passages),
        }

    def parse(self, text: str, request: NextQueryRequest) -> NextQueryResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("query",))
        return NextQueryResponse(query=" ".join(_json.text(data, "query").split()))

    def offline(self, request: NextQueryRequest, profile: Profile) -> NextQueryResponse:
        known = {word for query in request.asked for word in words_of(query)}
        passages = [words_of(text) for text in request.passages]
        holds = Counter(word for words in passages for word in set(words))
        weights: dict[str, float] = {}
        for place, words in enumerate(passages, start=1):
            for word in words:
                if word.isalpha() and len(word) >= _SHORTEST and word not in known:
                    weights[word] = weights.get(word, 0.0) + 1 / (len(words) * place)
        for word in weights:
            weights[word] *= math.log1p(len(passages) / holds[word])
        best = sorted(weights, key=lambda word: -weights[word])[:_TERMS]
        return NextQueryResponse(query=" ".join(best))
