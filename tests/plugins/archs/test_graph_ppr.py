"""`arch=graph_ppr` with `phrases=model`: triples, synonyms, and the walk over both.

What it does with phrases by rule is in test_organisations.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framework.contracts import Embedder, Operation, answer_by_rule
from framework.engine.compose import compose_plan, composer
from framework.models.llm import most_tokens
from framework.registry import NoSettings
from framework.testing.arch_conformance import NoClient
from plugins.archs._phrase_graph import PhraseGraph, facts, node_of, synonyms
from plugins.archs._triples import (
    ExtractTriples,
    ExtractTriplesRequest,
    ExtractTriplesResponse,
    NameEntities,
    NameEntitiesRequest,
    NameEntitiesResponse,
    Triple,
)
from plugins.archs.graph_ppr import GraphPPR, GraphPPRSettings
from tests.framework.operations.test_bounds_of_schemas import unbounded_parts
from tests.plugins.archs.helpers import event, ids, opened, recall

BY_MODEL = GraphPPRSettings(phrases="model")


def triple(text: str) -> Triple:
    subject, relation, object_ = text.split(" / ")
    return Triple(subject=subject, relation=relation, object=object_)


@dataclass
class Told:
    """A client that knows the triples of every text and the names in every query."""

    triples: Mapping[str, Sequence[str]]
    entities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unreadable: Sequence[str] = ()
    asked: list[str] = field(default_factory=list)

    async def ask(self, operation: Operation[Any, Any], request: Any) -> Any:
        text = request.document if operation.name == "extract_triples" else request.query
        operation.prompt(request)
        self.asked.append(f"{operation.name}: {text}")
        if text in self.unreadable:
            raise ValueError("no JSON")
        if operation.name == "extract_triples":
            return ExtractTriplesResponse(triples=tuple(map(triple, self.triples[text])))
        return NameEntitiesResponse(entities=tuple(self.entities[text]))


class Placed(Embedder[NoSettings]):
    """An embedder with a direction of its own for each text, or the one that it is given."""

    name = "placed"
    kind = "model"
    dimension = 64

    def __init__(self, given: Mapping[str, Mapping[str, float]] | None = None) -> None:
        super().__init__(NoSettings())
        self.given, self.axes = given or {}, dict[str, int]()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A text is at `given[text]`, the shares of the axes of other texts, or on its own axis."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for axis, share in self.given.get(text, {text: 1.0}).items():
                row[self.axes.setdefault(axis, len(self.axes))] = share
        return rows


EVENTS = [event(name, f"the text of {name}") for name in ("fee", "order", "board", "lunch", "far")]
TRIPLES = {
    "the text of fee": ["Berthing fee / is set by / Order 12", "Berthing fee / is / 40 euros"],
    "the text of order": ["Order 12 / is issued by / Harbour Board"],
    "the text of board": ["Harbour Board / has / seven members", "Order 12 / binds / skippers"],
    "the text of lunch": ["canteen / opens at / nine"],
    "the text of far": ["Port Authority / employs / pilots"],
}
NODES = (
    *("berthing fee", "order 12", "40 euros", "harbour board", "seven members", "skippers"),
    *("canteen", "nine", "port authority", "pilots"),
)
EDGES = ((0, 1), (0, 2), (1, 3), (3, 4), (1, 5), (6, 7), (8, 9))
HELD = (
    {0: 2, 1: 1, 2: 1},
    {1: 1, 3: 1},
    {3: 1, 4: 1, 1: 1, 5: 1},
    {6: 1, 7: 1},
    {8: 1, 9: 1},
)


def page_rank(
    weights: Mapping[tuple[int, int], float], seeds: Mapping[int, float], restart: float = 0.5
) -> NDArray[np.float64]:
    """Personalised PageRank as the solution of its linear equations."""
    n = len(NODES)
    joined = np.zeros((n, n))
    for (one, other), weight in weights.items():
        joined[one, other] = joined[other, one] = weight
    start = np.zeros(n)
    for place, weight in seeds.items():
        start[place] = weight
    start /= start.sum()
    for place in np.flatnonzero(joined.sum(axis=0) == 0):
        joined[:, place] = start
    steps = joined / joined.sum(axis=0)
    return np.linalg.solve(np.eye(n) - (1 - restart) * steps, restart * start)


def expected(visits: NDArray[np.float64]) -> list[float]:
    return [sum(visits[place] * n for place, n in held.items()) for held in HELD]


def scores(arch: Any, query: str) -> list[float]:
    """By event, in order of arrival."""
    found = {item.id: item.signals["ppr"] for item in recall(arch, query)}
    return [found[one.id] for one in EVENTS]


def harbour(
    entities: Sequence[str],
    settings: GraphPPRSettings = BY_MODEL,
    embedder: Embedder[Any] | None = None,
) -> Any:
    client = Told(TRIPLES, {"asked": entities})
    return opened(GraphPPR, EVENTS, settings, client=client, embedder=embedder or Placed())


# --------------------------------------------------------------------------------------- the walk


@pytest.mark.parametrize("restart", [0.1, 0.5, 1.0])
def test_events_score_the_page_rank_of_the_phrases_of_their_triples(restart: float) -> None:
    arch = harbour(
        ["Order 12", "the 40 euros?"], GraphPPRSettings(phrases="model", restart=restart)
    )
    # What is named is a phrase only as it is written; Placed makes any other text like none.
    visits = page_rank(dict.fromkeys(EDGES, 1.0), {1: 1 / 3}, restart)
    assert scores(arch, "asked") == pytest.approx(expected(visits), abs=1e-5)
    assert list(arch._found.terms) == list(NODES)


def test_a_phrase_of_few_events_weighs_more() -> None:
    arch = harbour(["ORDER 12", "40 euros"])
    visits = page_rank(dict.fromkeys(EDGES, 1.0), {1: 1 / 3, 2: 1.0})
    assert scores(arch, "asked") == pytest.approx(expected(visits), abs=1e-5)


def test_two_triples_of_the_same_ends_make_a_heavier_edge() -> None:
    more = {
        **TRIPLES,
        "the text of board": [*TRIPLES["the text of board"], "order-12 / by / BOARD"],
    }
    more["the text of board"][-1] = "order-12 / of / Harbour  Board"
    client = Told(more, {"asked": ["Order 12"]})
    arch: Any = opened(GraphPPR, EVENTS, BY_MODEL, client=client, embedder=Placed())
    visits = page_rank({**dict.fromkeys(EDGES, 1.0), (1, 3): 2.0}, {1: 1 / 3})
    assert arch._walk([1]) == pytest.approx(visits, abs=1e-5)
    assert scores(arch, "asked")[2] == pytest.approx(
        2 * visits[3] + visits[4] + 2 * visits[1] + visits[5], abs=1e-5
    )


def test_a_phrase_under_no_edge_leads_back_to_the_query() -> None:
    told = {"only text": ["Order 12 / replaces / order 12"], "other": ["a fee / of / Order 9"]}
    events = [event("only", "only text"), event("other", "other")]
    client = Told(told, {"asked": ["Order 12", "a fee"]})
    arch: Any = opened(GraphPPR, events, BY_MODEL, client=client, embedder=Placed())
    visits = arch._walk([0, 1])
    assert visits.sum() == pytest.approx(1)
    # Of the seeds a and b and the neighbour c of b: a = 1/4 + a/4 and b = 1/4 + a/4 + c/2, c = b/2.
    a = 1 / 3
    b = (1 / 4 + a / 4) / (1 - 1 / 4)
    assert visits == pytest.approx([a, b, b / 2], abs=1e-5)
    found = {item.id: item.signals["ppr"] for item in recall(arch, "asked")}
    assert found == pytest.approx({"other": b * 1.5, "only": a}, abs=1e-5), "once for one triple"


@pytest.mark.peers
def test_a_walk_is_the_personalised_page_rank_of_networkx() -> None:
    import networkx as nx

    rng = np.random.default_rng(5)
    drawn = rng.integers(0, 60, (30, 4, 2)).tolist()
    told = {f"text {i}": [f"n{a} / r / n{b}" for a, b in few] for i, few in enumerate(drawn)}
    events = [event(str(i), text) for i, text in enumerate(told)]
    client = Told(told, {"asked": ["n1", "n2", "n3"]})
    arch: Any = opened(GraphPPR, events, BY_MODEL, client=client, embedder=Placed())
    graph = nx.Graph()
    graph.add_nodes_from(arch._found.terms)
    for triples in told.values():
        for one in facts(map(triple, dict.fromkeys(triples))):
            if one[0] != one[2]:
                before = graph.get_edge_data(one[0], one[2], {"weight": 0})["weight"]
                graph.add_edge(one[0], one[2], weight=before + 1)
    start = [arch._found.terms[name] for name in ("n1", "n2", "n3") if name in arch._found.terms]
    seeds = {list(graph)[place]: 1 / int(arch._found.documents[place]) for place in start}
    ranks = nx.pagerank(graph, alpha=0.5, personalization=seeds, tol=1e-12)
    assert arch._walk(start) == pytest.approx([ranks[name] for name in arch._found.terms], abs=1e-5)


# --------------------------------------------------------------------------------------- synonyms


LIKE = Placed({"port authority": {"harbour board": 0.9, "elsewhere": 0.19**0.5}})


def test_a_synonym_leads_to_what_no_triple_joins() -> None:
    none = GraphPPRSettings(phrases="model", synonyms=None)
    without = harbour(["Order 12"], none, LIKE)
    with_it = harbour(["Order 12"], BY_MODEL, LIKE)
    assert scores(without, "asked")[4] == 0
    visits = page_rank({**dict.fromkeys(EDGES, 1.0), (3, 8): 0.9}, {1: 1 / 3})
    assert scores(with_it, "asked") == pytest.approx(expected(visits), abs=1e-5)
    assert scores(with_it, "asked")[4] > 0
    assert [arch.report()["synonyms"] for arch in (without, with_it)] == [0, 1]
    assert scores(harbour(["Order 12"], GraphPPRSettings(phrases="model", synonyms=0.91), LIKE),
                  "asked") == scores(without, "asked")  # fmt: skip


def test_what_the_query_names_stands_for_the_nearest_phrase() -> None:
    near = Placed({"the board": {"harbour board": 0.6, "elsewhere": 0.8}})
    arch = harbour(["The Board"], embedder=near)
    visits = page_rank(dict.fromkeys(EDGES, 1.0), {3: 1 / 2})
    assert scores(arch, "asked") == pytest.approx(expected(visits), abs=1e-5)


def test_synonyms_in_the_place_of_triples_and_without_direction() -> None:
    terms = {"alpha": 0, "alphas": 1, "beta": 2}
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
    by_event = [facts([triple("alpha / is / alphas"), triple("beta / is / alpha")])]
    graph = PhraseGraph(terms, vectors, by_event, 0.8)
    assert (graph.related, graph.synonyms) == (2, 1)
    start = np.array([1.0, 0.0, 0.0])
    assert graph.step(start, start) == pytest.approx([0, 0.8 / 1.8, 1 / 1.8])
    assert graph.step(np.array([0.0, 0.5, 0.5]), start) == pytest.approx([1, 0, 0])


def test_synonyms_are_like_enough_not_too_short_and_not_too_many() -> None:
    same = np.tile(np.array([[0.6, 0.8]], dtype=np.float32), (3, 1))
    assert synonyms(["us", "usa", "u s a"], same, 1.0) == {(1, 2): pytest.approx(1.0)}
    angles = np.linspace(0, 0.01, 150)
    many = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    found = synonyms([f"name{i}" for i in range(150)], many, 0.8)
    assert len(found) < 150 * 149 / 2
    assert (0, 1) in found
    assert (0, 149) not in found
    degree = np.bincount(np.array(list(found)).ravel())
    assert degree.min() >= 100


@pytest.mark.parametrize("least", [0.2, 0.7])
def test_synonyms_are_all_pairs_above_the_threshold(least: float) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(60, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors.astype(float) @ vectors.T.astype(float)
    pairs = {(i, j) for i in range(60) for j in range(i + 1, 60) if cosines[i, j] >= least}
    found = synonyms([f"name{i}" for i in range(60)], vectors, least)
    assert set(found) == pairs
    assert all(weight == pytest.approx(cosines[pair], abs=1e-5) for pair, weight in found.items())


# --------------------------------------------------------------------- what is not as it should be


def test_an_extraction_that_cannot_be_read_is_counted_and_its_event_stands_last() -> None:
    client = Told(TRIPLES, {"asked": ["Order 12"]}, unreadable=["the text of order"])
    arch = opened(GraphPPR, EVENTS, BY_MODEL, client=client, embedder=Placed())
    items = recall(arch, "asked")
    assert sorted(ids(items)) == sorted(one.id for one in EVENTS)
    assert {item.id: item.signals["ppr"] for item in items}["order"] == 0
    report = arch.report()
    assert (report["unreadable"], report["without_triples"], report["triples"]) == (1, 1, 6)


def test_triples_that_say_nothing_are_left_out_and_a_repetition_counts_once() -> None:
    told = {
        "a": ["Order 12 / of / --", " / of / Order 12", "Order 12 / sets / fee"] * 3,
        "b": [],
        "c": ["? / ! / ."],
    }
    client = Told(told, {"asked": ["Order 12"]})
    events = [event(name, name) for name in "bca"]
    arch = opened(GraphPPR, events, BY_MODEL, client=client, embedder=Placed())
    assert arch.report() == {
        "phrases": 2,
        "links": 2,
        "triples": 1,
        "related": 1,
        "synonyms": 0,
        "without_triples": 2,
        "unreadable": 0,
    }
    assert ids(recall(arch, "asked")) == ["a", "b", "c"]


def test_no_triple_at_all_ranks_by_arrival_and_names_nothing() -> None:
    client = Told({"x": [], "y": []})
    arch = opened(GraphPPR, [event("y", "y"), event("x", "x")], BY_MODEL, client=client)
    assert ids(recall(arch, "asked")) == ["y", "x"]
    assert not [said for said in client.asked if said.startswith("name_entities")]


@pytest.mark.parametrize("entities", [[], ["--", ""], ["a name that is like no phrase"]])
def test_a_query_without_a_known_phrase_ranks_by_arrival(entities: list[str]) -> None:
    items = recall(harbour(entities), "asked")
    assert ids(items) == [one.id for one in EVENTS]
    assert not any(item.signals["ppr"] for item in items)


def test_an_empty_history_and_an_empty_query_ask_nothing() -> None:
    client = Told(TRIPLES)
    empty = opened(GraphPPR, [], BY_MODEL, client=client)
    assert recall(empty, "asked") == []
    assert not client.asked
    arch = opened(GraphPPR, EVENTS, BY_MODEL, client=client, embedder=Placed())
    assert ids(recall(arch, " ")) == [one.id for one in EVENTS]
    assert client.asked == [f"extract_triples: {one.text}" for one in EVENTS]


def test_an_answer_for_a_query_that_cannot_be_read_is_an_error() -> None:
    client = Told(TRIPLES, unreadable=["asked"])
    arch = opened(GraphPPR, EVENTS, BY_MODEL, client=client, embedder=Placed())
    with pytest.raises(ValueError, match="no JSON"):
        recall(arch, "asked")


def test_by_rule_no_model_is_asked_and_nothing_is_embedded() -> None:
    class Nothing(Placed):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise AssertionError("embedded")

    arch = opened(GraphPPR, EVENTS, client=NoClient(), embedder=Nothing())
    assert ids(recall(arch, "the text of lunch"))[0] == "lunch"
    assert set(arch.report()) == {"phrases", "links"}


# ---------------------------------------------------------------------------------- the operations


@pytest.mark.parametrize("operation", [ExtractTriples(), NameEntities()], ids=lambda o: o.name)
def test_an_answer_is_bounded_in_items_and_lengths(operation: Any) -> None:
    assert list(unbounded_parts(operation.schema(None))) == []
    assert most_tokens(operation.schema(None)) < 10_000


def test_an_answer_is_read_strictly() -> None:
    operation, request = ExtractTriples(), ExtractTriplesRequest(document="{braces} are text")
    assert "{braces} are text" in operation.prompt(request).user
    good = '{"triples": [{"subject": "a", "relation": "b", "object": "c"}]}'
    assert operation.parse(f"Here: {good}", request).triples == (triple("a / b / c"),)
    assert operation.parse('{"triples": []}', request).triples == ()
    for bad in (
        "",
        "[]",
        '{"triples": null}',
        '{"triples": [["a", "b", "c"]]}',
        '{"triples": [{"subject": "a", "relation": "b"}]}',
        '{"triples": [{"subject": "a", "relation": "b", "object": null}]}',
        '{"triples": [], "more": 1}',
        good[:-3],
    ):
        with pytest.raises(ValueError, match=r"\w"):
            operation.parse(bad, request)
    named = NameEntities()
    assert named.parse('{"entities": ["a"]}', NameEntitiesRequest(query="")).entities == ("a",)
    with pytest.raises(ValueError, match=r"\w"):
        named.parse('{"entities": "a"}', NameEntitiesRequest(query=""))


def test_by_rule_the_phrases_of_a_sentence_are_joined_in_a_row() -> None:
    document = "The Harbour Board sets a fee. Lunch. The fee of 40 euros is due."
    found = answer_by_rule(ExtractTriples(), ExtractTriplesRequest(document=document)).triples
    assert [(t.subject, t.object) for t in found] == [
        *(("harbour board", "harbour"), ("harbour", "board"), ("board", "sets"), ("sets", "fee")),
        *(("fee", "40"), ("40", "euros"), ("euros", "due")),
    ]
    assert {t.relation for t in found} == {"stands with"}
    query = NameEntitiesRequest(query="What fee does the Harbour Board set, what fee?")
    entities = answer_by_rule(NameEntities(), query).entities
    assert entities == ("harbour board", "fee", "harbour", "board", "set")


def test_phrases_are_compared_by_letters_and_digits() -> None:
    assert node_of("  The “Harbour-Board”, No. 12 ") == "the harbour board no 12"
    assert node_of("Zürich_West") == "zürich west"
    assert node_of("--") == ""


# ------------------------------------------------------------------------------------- declarations


@pytest.fixture(scope="module", autouse=True)
def composing() -> Iterator[None]:
    with composer():
        yield


def test_the_arm_declares_model_and_embedder_only_where_it_uses_them() -> None:
    rules = compose_plan(["arch=graph_ppr"])
    model = compose_plan(["arch=graph_ppr", "arch.phrases=model"])
    classes = [plan.parts["arch"].plugin.cls for plan in (rules, model)]
    assert [(cls.needs_model, cls.uses_embedder) for cls in classes] == [
        (False, False),
        (True, True),
    ]
    assert classes[1].name == "graph_ppr"
    assert classes[1].__doc__ == GraphPPR.__doc__
    assert ["embedder" in plan.used for plan in (rules, model)] == [False, True]
    assert model.label("arch") == "graph_ppr(phrases=model)"


def test_phrases_by_rule_are_the_arm_of_before_and_a_models_hang_on_its_prompts() -> None:
    assert GraphPPRSettings(restart=0.2).identity() == {"restart": 0.2}
    identity = BY_MODEL.identity()
    assert identity["synonyms"] == 0.8
    assert identity["extract_triples"] == ExtractTriples().files.digest
    assert identity["name_entities"] == NameEntities().files.digest


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"synonyms": 0.5}, "needs phrases=model"),
        ({"synonyms": None}, "needs phrases=model"),
        ({"phrases": "model", "synonyms": 0.0}, "above 0"),
        ({"phrases": "model", "synonyms": 1.1}, "expected"),
    ],
)
def test_synonyms_out_of_range_or_without_vectors_are_refused(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        GraphPPRSettings(**given)
