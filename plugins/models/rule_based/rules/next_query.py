"""What to search for next: the weightiest words that were not asked for."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.next_query import NextQueryRequest, NextQueryResponse
from framework.registry import register
from plugins.models.rule_based.memory.lexical import words_of

_TERMS: Final = 6
_SHORTEST: Final = 3


@register("rule", "next_query")
class NextQueryRule(Rule[NextQueryRequest, NextQueryResponse]):
    """Pseudo relevance feedback (after Rocchio 1971): six words that no earlier query had.

    They are the words of the passages that weigh most. A word weighs its share of a passage
    over the passage's place, summed, times ln(1 + n / number of passages that hold it); figures
    and words of one or two letters are left out, ties go to the word that is read first. It
    stops when no word is left.
    """

    def answer(self, request: NextQueryRequest, profile: Profile) -> NextQueryResponse:
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
