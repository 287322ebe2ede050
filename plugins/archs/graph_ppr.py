"""A graph of phrases, walked from those of the query: HippoRAG-style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from framework.bounds import Bounded, above
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import top, words
from plugins.archs._items import ranked_items
from plugins.archs._postings import Postings

_NAME: Final = re.compile(r"[A-Z][\w&-]*(?:[ ]+[A-Z][\w&-]*)+")
_STOP_WORDS: Final = (
    "a all also an and any are as at be been but by can did do does for from had has have he her "
    "his how if in into is it its may me more most must no nor not of on one only or our shall she "
    "should so some such than that the their them then there these they this those to under up was "
    "we were what when where which who whom whose why will with would you your"
)
_STOP: Final = frozenset(_STOP_WORDS.split())
_TOLERANCE: Final = 1e-6
_MOST_STEPS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPPRSettings(Bounded):
    """Settings of `arch=graph_ppr`.

    restart : probability that a walk goes back to the query's phrases at each step, in (0, 1]; 0.5
        in the source.
    """

    restart: Annotated[float, above(0, most=1)] = 0.5


@register("arch", "graph_ppr")
class GraphPPR(Arch[GraphPPRSettings]):
    """Personalised PageRank over phrases that share events (HippoRAG-style, Gutierrez et al. 2024).

    A walk starts at the query's phrases, each weighted by how few events hold it, and steps from a
    phrase to one of its events and on to one of that event's phrases; an event scores the visits to
    its phrases, times their counts. So events are reached that share no word with the query.

    `-style`, since phrases are found by rule (names of several capitalised words, content words,
    figures), where the source has a model extract triples and link synonyms by embedding. The
    given edges are not used. Ties stay in order of arrival; everything is ranked.
    """

    def ingest(self, events: Iterable[Event]) -> None:
        from scipy.sparse import csc_matrix

        self._events = tuple(events)
        found = self._found = Postings([event.text for event in self._events], phrases)
        shape = (found.size, len(found.terms))
        cells = (found.rows, found.starts)
        self._counts = csc_matrix((found.counts.astype(np.float64), *cells), shape=shape)
        self._held = csc_matrix((np.ones(len(found.rows)), *cells), shape=shape)
        self._phrases = np.bincount(found.rows, minlength=found.size)  # distinct ones, by event

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        visits = self._visits(query.text or "")
        scores = self._counts @ visits if visits.size else np.zeros(len(self._events))
        order = top(scores, k)
        return ranked_items(self._events, order, {"ppr": scores[order]})

    def report(self) -> Mapping[str, float]:
        return {"phrases": len(self._found.terms), "links": len(self._found.rows)}

    def _visits(self, query: str) -> NDArray[np.float64]:
        """Share of the walk's time at each phrase; zeros where the query names none."""
        found = self._found
        seeds = np.zeros(len(found.terms))
        for phrase in phrases(query):
            if phrase in found.terms:
                place = found.terms[phrase]
                seeds[place] = 1 / found.documents[place]
        if not seeds.any():
            return seeds
        seeds /= seeds.sum()
        per_event = np.maximum(self._phrases, 1)
        visits, restart = seeds, self.settings.restart
        for _ in range(_MOST_STEPS):
            at_events = self._held @ (visits / found.documents)
            after = restart * seeds + (1 - restart) * (self._held.T @ (at_events / per_event))
            moved = float(np.abs(after - visits).sum())
            visits = after
            if moved < _TOLERANCE:
                break
        result: NDArray[np.float64] = visits
        return result


def phrases(text: str) -> list[str]:
    """Names of several capitalised words, in lower case, then content words and figures."""
    found = []
    for match in _NAME.findall(text):
        name = match.lower().split()
        if name[0] in _STOP:  # a sentence's first word
            del name[0]
        if len(name) > 1:
            found.append(" ".join(name))
    return found + [word for word in words(text) if word not in _STOP]
