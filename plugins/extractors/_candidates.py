"""Which documents of a history one of them may speak of, by their words."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Final

from framework.bounds import Bounded, at_least
from framework.operations.extract_edges import Candidate, ExtractEdgesRequest, ExtractEdgesResponse
from framework.records import Event

_WORD: Final = re.compile(r"[^\W_]+")
_COMMON: Final = 0.1
"""A word of more than this share of the documents names none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSettings(Bounded):
    """Settings of the extractors that read a document beside those that it may speak of.

    candidates : number of other documents shown with a document, at least 1.
    """

    candidates: Annotated[int, at_least(1)] = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request about one event, and the places of the events that its candidates are."""

    request: ExtractEdgesRequest
    places: tuple[int, ...]


def requests(events: Sequence[Event], most: int) -> list[Asked]:
    """A request for every event, with the `most` events likest to it, the likest first.

    Similarity is the sum of idf over the words that two documents share, and over the pairs of
    capitalised words; the words of an event's id count as its own. So what names a document brings
    it among the likest. Ties are in order of arrival.
    """
    words = [_terms(event) for event in events]
    holding: dict[str, list[int]] = defaultdict(list)
    for place, own in enumerate(words):
        for word in sorted(own):
            holding[word].append(place)
    rare = {w: at for w, at in holding.items() if len(at) <= max(2, _COMMON * len(events))}
    asked = []
    for place, own in enumerate(words):
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(own):
            for other in rare.get(word, ()):
                scores[other] += math.log(len(events) / len(rare[word]))
        scores.pop(place, None)
        places = tuple(sorted(scores, key=lambda other: (-scores[other], other))[:most])
        candidates = tuple(Candidate(name=events[i].id, text=events[i].text) for i in places)
        request = ExtractEdgesRequest(document=events[place].text, candidates=candidates)
        asked.append(Asked(request=request, places=places))
    return asked


def with_links(
    events: Sequence[Event],
    asked: Sequence[Asked],
    responses: Iterable[ExtractEdgesResponse | None],
) -> list[Event]:
    """The events with kinds and edges as read; None for one that could not be read."""
    kinds = [""] * len(events)
    edges: list[dict[tuple[str, str], None]] = [{} for _ in events]
    for place, (one, response) in enumerate(zip(asked, responses, strict=True)):
        if response is None:
            continue
        kinds[place] = response.kind
        for link in response.links:
            other = one.places[link.number - 1]
            source, target = (other, place) if link.reverse else (place, other)
            edges[source][link.relation, events[target].id] = None
    return [
        replace(event, kind=kind, edges=tuple(own))
        for event, kind, own in zip(events, kinds, edges, strict=True)
    ]


def _terms(event: Event) -> set[str]:
    """Words of the text and the id, and pairs of words that both begin with a capital."""
    words = _WORD.findall(event.text)
    names = (f"{a} {b}".casefold() for a, b in pairwise(words) if a[0].isupper() and b[0].isupper())
    return {*names, *(word.casefold() for word in (*words, *_WORD.findall(event.id)))}
