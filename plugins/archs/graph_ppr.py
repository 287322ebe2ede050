"""A graph of phrases, walked from those of the query: HippoRAG-style."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from framework.bounds import Bounded, above
from framework.contracts import Arch, Query
from framework.records import Event, Item
from framework.registry import register
from plugins.archs._bm25 import top
from plugins.archs._dense import embed
from plugins.archs._items import ranked_items
from plugins.archs._phrase_graph import Fact, PhraseGraph, ends, facts, node_of
from plugins.archs._phrases import phrases
from plugins.archs._postings import Postings
from plugins.archs._triples import (
    ExtractTriples,
    ExtractTriplesRequest,
    NameEntities,
    NameEntitiesRequest,
)

_TOLERANCE: Final = 1e-6
_MOST_STEPS: Final = 100
_SYNONYMS: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPPRSettings(Bounded):
    """Settings of `arch=graph_ppr`.

    restart : probability of returning to the query's phrases at each step of a walk, in (0, 1]; 0.5
        in the source.
    phrases : `rules`: names, content words and figures, joined if they share an event. `model`, as
        in the source: a model extracts triples from every event, whose ends are the phrases, joined
        by the triples; and a model names the entities of the query. The arm then calls a model and
        uses the embedder.
    synonyms : least cosine of two phrases' vectors at which they are joined too, in (0, 1]; 0.8 in
        the source; null joins none. Only with `phrases=model`.
    """

    restart: Annotated[float, above(0, most=1)] = 0.5
    phrases: Literal["rules", "model"] = "rules"
    synonyms: Annotated[float | None, above(0, most=1)] = _SYNONYMS

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if self.phrases == "rules" and self.synonyms != _SYNONYMS:
            raise ValueError("synonyms: needs phrases=model; by rule no phrase has a vector")

    def identity(self) -> dict[str, Any]:
        """With the prompts that `phrases=model` asks with; by rule, `restart` alone as ever."""
        if self.phrases == "rules":
            return {"restart": self.restart}
        asked = {one.name: one.files.digest for one in (ExtractTriples(), NameEntities())}
        return {**asdict(self), **asked}


@register("arch", "graph_ppr")
class GraphPPR(Arch[GraphPPRSettings]):
    """Personalised PageRank over phrases (HippoRAG-style, Jiménez Gutiérrez et al. 2024).

    A walk starts at the query's phrases, each weighted by how few events hold it, and steps from
    phrase to phrase; an event scores the visits to its phrases, times their counts. So events are
    reached that share no word with the query. The given edges are not used. Ties stay in order of
    arrival; everything is ranked.

    `phrases=rules`: phrases are found by rule, a step leads from a phrase to one of its events and
    on to one of that event's phrases, and the query's phrases that no event holds lead nowhere.

    `phrases=model`, as in the source (section 2.3): one call an event extracts triples, whose
    subjects and objects are the phrases. A step follows a triple, either way, or leads to a
    synonym, by weight: the number of triples that join the two, or the cosine of synonyms. One call
    a query names its entities, each of which stands for the phrase nearest to it by embedding, or
    for none where nothing is like it at all. An event counts a phrase once for each of its triples.
    What `arch=dense` says of embedders holds here.

    `-style`: the source makes two calls a passage, for entities and for triples with them, always
    takes the nearest phrase, and may mix in dense retrieval (its ensembling), which is not here. A
    query without a phrase ranks by arrival; the source then gives all passages the same score. An
    extraction that can't be read leaves its event without phrases, last and counted; an answer for
    a query that can't be read is an error of its case.
    """

    @classmethod
    def under(cls, settings: GraphPPRSettings) -> type[Self]:
        """With `phrases=model` it asks a model and embeds."""
        declaring: type[Self] = _asking(cls) if settings.phrases == "model" else cls
        return declaring

    def ingest(self, events: Iterable[Event]) -> Awaitable[None] | None:
        self._events = tuple(events)
        self._graph: PhraseGraph | None = None
        if self.settings.phrases == "model":
            return self._extract()
        self._index(Postings([event.text for event in self._events], phrases))
        return None

    async def _extract(self) -> None:
        """Have the triples of every event read, and make the graph of them."""
        read: list[tuple[Fact, ...]] = []
        self._unreadable = 0
        for event in self._events:
            request = ExtractTriplesRequest(document=event.text)
            try:
                response = await self.context.client.ask(ExtractTriples(), request)
            except ValueError:  # what `Operation.parse` raises; a failed call is not caught here
                self._unreadable += 1
                read.append(())
            else:
                read.append(facts(response.triples))
        self._index(Postings(["\n".join(ends(found)) for found in read], str.splitlines))
        self._triples = [len(found) for found in read]
        terms = self._found.terms
        if terms:
            vectors = await embed(self.context, list(terms))
            self._graph = PhraseGraph(terms, vectors, read, self.settings.synonyms)

    def _index(self, found: Postings) -> None:
        from scipy.sparse import csc_matrix

        self._found = found
        shape = (found.size, len(found.terms))
        cells = (found.rows, found.starts)
        self._counts = csc_matrix((found.counts.astype(np.float64), *cells), shape=shape)
        self._held = csc_matrix((np.ones(len(found.rows)), *cells), shape=shape)
        self._phrases = np.bincount(found.rows, minlength=found.size)  # distinct ones, by event

    def recall(self, query: Query, k: int) -> Awaitable[Sequence[Item]] | Sequence[Item]:
        asked = query.text or ""
        if self.settings.phrases == "model":
            return self._recall_named(asked, k)
        return self._ranked(self._visits(asked), k)

    async def _recall_named(self, query: str, k: int) -> Sequence[Item]:
        """From the phrases nearest to what a model names in the query."""
        places: Iterable[int] = ()
        if self._graph is not None and query.strip():
            answer = await self.context.client.ask(NameEntities(), NameEntitiesRequest(query=query))
            named = list(filter(None, map(node_of, answer.entities)))
            if named:
                places = self._graph.nearest(await embed(self.context, named))
        return self._ranked(self._walk(places), k)

    def _ranked(self, visits: NDArray[np.float64], k: int) -> Sequence[Item]:
        scores = self._counts @ visits if visits.size else np.zeros(len(self._events))
        order = top(scores, k)
        return ranked_items(self._events, order, {"ppr": scores[order]})

    def report(self) -> Mapping[str, float]:
        found = {"phrases": len(self._found.terms), "links": len(self._found.rows)}
        if self.settings.phrases == "rules":
            return found
        return {
            **found,
            "triples": sum(self._triples),
            "related": 0 if self._graph is None else self._graph.related,
            "synonyms": 0 if self._graph is None else self._graph.synonyms,
            "without_triples": self._triples.count(0),
            "unreadable": self._unreadable,
        }

    def _visits(self, query: str) -> NDArray[np.float64]:
        """As `_walk`, from the phrases found by rule."""
        terms = self._found.terms
        return self._walk(terms[phrase] for phrase in phrases(query) if phrase in terms)

    def _walk(self, places: Iterable[int]) -> NDArray[np.float64]:
        """Share of the walk's time at each phrase, from those at the places; zeros from none."""
        found = self._found
        seeds = np.zeros(len(found.terms))
        for place in places:
            seeds[place] = 1 / found.documents[place]
        if not seeds.any():
            return seeds
        seeds /= seeds.sum()
        visits, restart = seeds, self.settings.restart
        for _ in range(_MOST_STEPS):
            after = restart * seeds + (1 - restart) * self._step(visits, seeds)
            moved = float(np.abs(after - visits).sum())
            visits = after
            if moved < _TOLERANCE:
                break
        return visits

    def _step(self, visits: NDArray[np.float64], seeds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where a walk at the phrases of `visits` is after one step that is no restart."""
        if self._graph is not None:
            return self._graph.step(visits, seeds)
        at_events = self._held @ (visits / self._found.documents)
        return np.asarray(self._held.T @ (at_events / np.maximum(self._phrases, 1)))


@cache
def _asking(cls: Any) -> Any:
    """The class, declaring that it asks a model and embeds."""
    said = {key: getattr(cls, key) for key in ("__module__", "__qualname__", "__doc__")}
    return type(cls)(cls.__name__, (cls,), {**said, "needs_model": True, "uses_embedder": True})
