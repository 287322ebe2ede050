"""Whether a rationale entails points: that it states each relation, and nowhere its opposite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.entail import EntailRequest
from framework.operations.verdicts import Finding
from framework.records import ReasoningPoint
from framework.registry import register
from framework.text.values import contains, occurrences
from plugins.models.rule_based.reading.comparing import claims, type_of
from plugins.models.rule_based.visible import visible

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_UNSURE: Final = re.compile(
    r"\b(?:might|could|perhaps|possibl[ey]|probabl[ey]|likely|presumably|supposedly|arguably|"
    r"conceivably|allegedly|either|whether|if|unless|may(?!\s+\d)|or\s+not|"
    r"not\s+(?:certain|clear|sure|true|established|the\s+case)|false\s+that|"
    r"un(?:certain|clear|sure|decided|determined|known))\b|\?",
    re.IGNORECASE,
)
_NOT: Final = re.compile(
    r"\b(?:is|was|are|were|does|did|do|has|have|had|can|could)(?:\s+not|n['’]t)\b", re.IGNORECASE
)
_FALSE: Final = re.compile(r"\bnot\s+(?:true|so|the\s+case)\b|\bfalse\s+that\b", re.IGNORECASE)
_TAKEN_BACK: Final = re.compile(
    r"(?:no|untrue|wrong|false|(?:that|this|it)\s+(?:is|was)\s+(?:untrue|false|wrong|incorrect|"
    r"not\s+(?:true|so|right|correct|the\s+case)))\W*\Z",
    re.IGNORECASE,
)
"""A sentence that takes the one before it back."""
_COMMA: Final = re.compile(r"[,;]\s")
_WORDS: Final = 2
"""Words of a part that can't hold a clause."""
_MANY: Final = 6
"""Parts: what has as many between commas and no clause in most of them is a list."""
_FEW: Final = 4
"""Words of a part that holds no clause."""


@register("rule", "entail")
class EntailRule(Rule[EntailRequest, tuple[Finding, ...]]):
    """A point is met by a sentence that states it, unless another sentence denies it.

    A point that compares is stated by a sentence that says how what is compared, with its value,
    stands to the threshold or to the provision that sets it, in either order; values and provisions
    listed without a comparison state nothing. Any other point is stated by a sentence that has one
    alternative of each of its groups. What is said to be possible, open or conditional, and what
    the next sentence takes back, is not stated. A value counts in any form of its type, other text
    as whole words in any case. It knows only the wordings that the gold lists and the comparisons
    of `reading.comparing`.
    """

    def answer(self, request: EntailRequest, profile: Profile) -> tuple[Finding, ...]:
        parts = [part.strip() for part in _SENTENCE_END.split(visible(request.rationale))]
        said = [part for part in parts if part]
        pairs = zip(said, [*said, ""][1:], strict=True)
        found = [sentence for sentence, after in pairs if not _TAKEN_BACK.match(after)]
        return tuple(_entailed(point, found) for point in request.points)


def _entailed(point: ReasoningPoint, sentences: Sequence[str]) -> Finding:
    stated = ""
    for sentence in sentences:
        says = _compared(point, sentence) if point.relation else _said(point, sentence)
        if says is False:
            return Finding(id=point.id, met=False, quotes=(sentence,), why="denied")
        if says and not stated and not _UNSURE.search(sentence):
            stated = sentence
    return Finding(id=point.id, met=bool(stated), quotes=(stated,) if stated else ())


def _compared(point: ReasoningPoint, sentence: str) -> bool | None:
    """Whether a sentence states the comparison or its opposite; None when it does neither."""
    found = claims(sentence, point.requires[:-1], point.requires[-1], point.relation)
    return None if not found else all(found)


def _said(point: ReasoningPoint, sentence: str) -> bool | None:
    met = [any(_says(sentence, option) for option in group) for group in point.requires]
    if met[0] and any(_says(sentence, phrase) for phrase in point.forbids):
        return False
    if not all(met) or _is_list(sentence):
        return None
    return not _denied(point, sentence)


def _is_list(sentence: str) -> bool:
    """Whether a sentence only lists: many parts, most of them a few words, that nothing relates."""
    parts = [len(part.split()) for part in _COMMA.split(sentence)]
    bare = len(parts) > _WORDS and all(n <= _WORDS for n in parts)
    return bare or (len(parts) >= _MANY and sum(n <= _FEW for n in parts) > len(parts) / 2)


def _denied(point: ReasoningPoint, sentence: str) -> bool:
    """Whether what the sentence says of the first group is said with `not` up to the last."""
    places = [
        [place for o in group for place in occurrences(sentence, o, type_of(o))]
        for group in (point.requires[0], point.requires[-1])
    ]
    start = min(place[0] for place in places[0]) if len(point.requires) > 1 else 0
    end = max(place[1] for place in places[1])
    return bool(_NOT.search(sentence, start, end) or _FALSE.search(sentence))


def _says(sentence: str, option: str) -> bool:
    return contains(sentence, option, type_of(option))
