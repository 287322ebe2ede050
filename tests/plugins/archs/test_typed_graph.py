"""The typed graph: heads of chains, types that matter, and arms that see no edges."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Arch
from framework.engine.compose import compose_plan, composer
from framework.records import Event
from framework.registry import plugins
from framework.statistics.intervals import wilson
from plugins.archs._edges import Edges, with_edges
from plugins.archs._graph import TypedGraph
from plugins.archs.bm25 import BM25
from plugins.archs.dense import Dense
from plugins.archs.external._memory import ExternalMemory
from plugins.archs.typed_graph import TypedGraphDense, TypedGraphMemory, TypedGraphSettings
from tests.plugins.archs.helpers import event, ids, opened, recall

NOISE = [event(f"n{i}", f"the parking lot number {i} is closed today") for i in range(12)]


def chain(length: int) -> list[Event]:
    """Decisions m1 .. m<length>, each superseding the one before; only m1 speaks of the task."""
    oldest = event("m1", "export reports as csv with every column", time="2026-01-01")
    newer = [
        event(f"m{i}", f"revision {i} of it", ("supersedes", f"m{i - 1}"), time=f"2026-01-0{i}")
        for i in range(2, length + 1)
    ]
    return [oldest, *newer, *NOISE]


def recalled(events: list[Event], query: str, **settings: Any) -> list[str]:
    return ids(recall(opened(TypedGraphMemory, events, TypedGraphSettings(**settings)), query))


def relabelled(events: list[Event], names: dict[str, str]) -> list[Event]:
    return [replace(e, edges=tuple((names.get(r, r), t) for r, t in e.edges)) for e in events]


@pytest.mark.parametrize("length", range(2, 7))
@pytest.mark.parametrize("backwards", [False, True])
def test_the_head_of_a_chain_comes_first(length: int, backwards: bool) -> None:
    events = chain(length)[::-1] if backwards else chain(length)
    order = recalled(events, "csv export of reports")
    assert order[0] == f"m{length}"
    old = [f"m{i}" for i in range(1, length)]
    assert set(order[-len(old) :]) == set(old)
    assert len(order) == len(events)
    dropped = recalled(events, "csv export of reports", superseded="drop")
    assert dropped == order[: -len(old)]


@pytest.mark.parametrize("length", range(2, 7))
def test_relabelled_or_rewired_chains_lose_the_head(length: int) -> None:
    events = chain(length)
    query = "csv export of reports"
    assert recalled(relabelled(events, {"supersedes": "cites"}), query)[0] == "m1"
    rewired = [replace(e, edges=tuple((r, "n3") for r, _ in e.edges)) for e in events]
    assert recalled(rewired, query)[0] == "m1"


def governed() -> list[Event]:
    """A task's seed with two neighbours by different relations, and one two hops away."""
    return [
        event("seed", "export reports as csv", ("constrains", "rule"), ("cites", "manual")),
        event("rule", "keep personal data out", ("implements", "law")),
        event("manual", "how the printer works"),
        event("law", "retention of personal data is regulated"),
        *NOISE,
    ]


def test_typed_neighbours_follow_their_seed_in_order_of_weight() -> None:
    assert recalled(governed(), "csv reports", seeds=1)[:4] == ["seed", "rule", "law", "manual"]


def test_swapping_two_relations_changes_the_order() -> None:
    swapped = relabelled(governed(), {"constrains": "cites", "cites": "constrains"})
    assert recalled(swapped, "csv reports", seeds=1)[:4] == ["seed", "manual", "rule", "law"]
    renamed = relabelled(governed(), {"constrains": "other1", "cites": "other2"})
    assert recalled(renamed, "csv reports", seeds=1)[:3] == ["seed", "rule", "manual"]


def test_hops_bound_the_search_and_zero_weight_closes_a_relation() -> None:
    near = TypedGraphSettings(seeds=1, hops=1)
    hop1 = recall(opened(TypedGraphMemory, governed(), near), "csv")
    assert {i.id: i.signals["hop"] for i in hop1 if "hop" in i.signals} == {
        "seed": 0,
        "rule": 1,
        "manual": 1,
    }
    closed = TypedGraphSettings(seeds=1, relations={"cites": 0.6}, other=0.0)
    items = recall(opened(TypedGraphMemory, governed(), closed), "csv")
    assert [i.id for i in items if "hop" in i.signals] == ["seed", "manual"]


def test_what_cited_the_old_decision_leads_to_the_new_one() -> None:
    events = [
        event("letter", "about the csv export", ("cites", "old")),
        event("old", "first version", time="2026-01-01"),
        event("new", "second version", ("supersedes", "old"), time="2026-01-02"),
        *NOISE,
    ]
    assert recalled(events, "csv", seeds=1)[:2] == ["letter", "new"]


def test_of_two_successors_the_later_dated_holds_whatever_arrived_first() -> None:
    late = event("late", "z", ("supersedes", "old"), time="2026-03-20")
    early = event("early", "z", ("supersedes", "old"), time="2026-03-10")
    old = event("old", "csv", time="2026-03-01")
    for events in ([old, early, late], [late, early, old]):
        graph = TypedGraph(events, {}, 1.0, 8)
        assert graph.head("old") == "late"
        assert graph.head("early") == "early"


def test_a_ring_of_supersession_has_one_head() -> None:
    events = [
        event("a", "x", ("supersedes", "c"), time="2026-01-01"),
        event("b", "x", ("supersedes", "a"), time="2026-01-02"),
        event("c", "x", ("supersedes", "b"), time="2026-01-03"),
    ]
    graph = TypedGraph(events, {}, 1.0, 8)
    assert {graph.head(name) for name in "abc"} == {"c"}
    assert graph.superseded == 2


def test_edges_to_nowhere_are_counted_and_dropped() -> None:
    events = [event("a", "csv", ("cites", "gone"), ("supersedes", "lost"), ("cites", "a"))]
    arch = opened(TypedGraphMemory, events)
    assert arch.report() == {"edges": 3, "dangling_edges": 3, "superseded": 0}
    assert ids(recall(arch, "csv")) == ["a"]


def test_fan_out_bounds_the_edges_followed() -> None:
    hub = event("hub", "csv hub", *(("cites", f"n{i}") for i in range(12)))
    settings = TypedGraphSettings(seeds=1, fan_out=3)
    items = recall(opened(TypedGraphMemory, [hub, *NOISE], settings), "csv")
    assert [i.id for i in items if "hop" in i.signals] == ["hub", "n0", "n1", "n2"]


TEXTS = st.lists(
    st.lists(st.sampled_from(["csv", "report", "law", "data", "x", "y"]), max_size=6).map(" ".join),
    min_size=1,
    max_size=10,
)


@given(TEXTS, st.sampled_from(["csv law", "report", "x y data", ""]), st.integers(0, 12))
def test_without_edges_it_is_bm25(texts: list[str], query: str, k: int) -> None:
    events = [event(str(i), text) for i, text in enumerate(texts)]
    ours = recall(opened(TypedGraphMemory, events), query, k)
    assert ids(ours) == ids(recall(opened(BM25, events), query, k))


@given(st.data())
def test_any_edges_give_every_event_once(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    names = st.integers(0, n).map(str)  # one name too many: an edge to nowhere
    relations = st.sampled_from(["supersedes", "cites", "supports", "unheard_of"])
    edges = data.draw(st.lists(st.tuples(names, relations, names), max_size=20))
    events = [
        event(
            str(i),
            data.draw(st.sampled_from(["csv", "law csv", "x"])),
            *((r, t) for s, r, t in edges if s == str(i)),
            time=f"2026-01-0{data.draw(st.integers(1, 3))}",
        )
        for i in range(n)
    ]
    order = recalled(events, "csv")
    assert sorted(order) == sorted(e.id for e in events)
    graph = TypedGraph(events, {}, 1.0, 8)
    current = [name for name in order if graph.head(name) == name]
    assert order[: len(current)] == current
    assert recalled(events, "csv", superseded="drop") == current


@pytest.mark.parametrize(
    "arch",
    [
        p.cls
        for p in plugins("arch")
        if not (p.cls.gold_edges or p.cls.needs_model or issubclass(p.cls, ExternalMemory))
    ],
    ids=lambda arch: arch.name,
)
def test_edge_blind_arms_are_the_same_with_edges_and_without(arch: type[Arch[Any]]) -> None:
    for events in (chain(4), governed()):
        bare = [replace(e, edges=()) for e in events]
        for query in ("csv export of reports", ""):
            with_edges = recall(opened(arch, events, budget=30), query)
            assert recall(opened(arch, bare, budget=30), query) == with_edges


def test_a_split_decision_has_all_its_successors_in_its_place() -> None:
    events = [
        event("old", "csv export", time="2026-01-01"),
        event("half", "x", ("supersedes", "old"), time="2026-01-02"),
        event("rest", "y", ("supersedes", "half"), time="2026-01-03"),
        event("other", "z", ("supersedes", "old"), time="2026-01-04"),
        *NOISE,
    ]
    assert TypedGraph(events, {}, 1.0, 8).heads("old") == ("other", "rest")
    assert set(recalled(events, "csv", seeds=1)[:2]) == {"other", "rest"}


def test_retired_events_are_marked() -> None:
    items = recall(opened(TypedGraphMemory, chain(4)), "csv export of reports")
    assert [i.id for i in items if "superseded" in i.signals] == ["m1", "m2", "m3"]


def line(length: int, relation: str = "implements") -> list[Event]:
    """d0 leads to d1, d1 to d2 and so on; only d0 speaks of the task."""
    path = [
        event(f"d{i}", "csv export" if i == 0 else f"step {i}", (relation, f"d{i + 1}"))
        for i in range(length)
    ]
    return [*path, event(f"d{length}", "the end"), *NOISE]


@pytest.mark.parametrize("hops", [0, 1, 2, 3, 5, None])
def test_hops_are_edges_from_the_seed_and_null_walks_to_the_end(hops: int | None) -> None:
    settings = TypedGraphSettings(seeds=1, hops=hops)
    items = recall(opened(TypedGraphMemory, line(8), settings), "csv")
    reached = [i.id for i in items if "hop" in i.signals]
    assert reached == [f"d{i}" for i in range(9 if hops is None else hops + 1)]


def test_pruning_follows_dependencies_only_and_only_towards_what_is_depended_on() -> None:
    events = [
        event("task", "csv export", ("implements", "rule"), ("cites", "manual")),
        event("rule", "r"),
        event("law", "l", ("constrains", "rule")),
        event("sibling", "s", ("implements", "rule")),
        event("manual", "m"),
        *NOISE,
    ]

    def reached(prune: bool) -> set[str]:
        settings = TypedGraphSettings(seeds=1, prune=prune)
        items = recall(opened(TypedGraphMemory, events, settings), "csv")
        return {i.id for i in items if "hop" in i.signals}

    assert reached(prune=True) == {"task", "rule", "law"}
    assert reached(prune=False) == {"task", "rule", "law", "sibling", "manual"}


def test_decay_prefers_the_newer_of_two_equal_neighbours() -> None:
    events = [
        event("seed", "csv", ("cites", "old"), ("cites", "new"), time="2026-03-01"),
        event("old", "a", time="2025-03-01"),
        event("new", "b", time="2026-02-01"),
        *NOISE,
    ]
    assert recalled(events, "csv", seeds=1)[:3] == ["seed", "old", "new"]
    assert recalled(events, "csv", seeds=1, decay=1.0)[:3] == ["seed", "new", "old"]


CONTROLS: list[Edges] = ["removed", "relabelled", "rewired"]


@pytest.mark.parametrize("length", range(2, 7))
@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_loses_the_head_that_intact_edges_find(length: int, control: Edges) -> None:
    events, query = chain(length), "csv export of reports"
    assert recalled(events, query, edges="intact")[0] == f"m{length}"
    settings = TypedGraphSettings(edges=control)
    firsts = [
        ids(recall(opened(TypedGraphMemory, events, settings, trial=trial), query))[0]
        for trial in range(10)
    ]
    assert firsts.count(f"m{length}") <= 2


@pytest.mark.parametrize("control", ["relabelled", "rewired"])
def test_controls_change_the_order_of_neighbours_and_repeat_by_trial(control: Edges) -> None:
    settings = TypedGraphSettings(edges=control, seeds=1)

    def order(trial: int) -> list[str]:
        return ids(
            recall(opened(TypedGraphMemory, governed(), settings, trial=trial), "csv reports")
        )

    intact = recalled(governed(), "csv reports", seeds=1)
    orders = [order(trial) for trial in range(10)]
    assert orders == [order(trial) for trial in range(10)]
    assert sum(found != intact for found in orders) >= 8


def test_with_its_edges_removed_it_is_bm25() -> None:
    found = recalled(governed(), "csv reports", edges="removed")
    assert found == ids(recall(opened(BM25, governed()), "csv reports"))


def test_the_papers_store_is_one_dense_seed_and_three_edges_to_what_governs() -> None:
    """Depth 5.1, 5.3: breadth first, no relation before another; supersession read."""
    with composer():
        settings = compose_plan(["arch=brief_graph_3hop"]).parts["arch"].settings
    events = [
        event("seed", "export reports as csv", ("cites", "manual"), ("requires", "b")),
        event("near", "export reports as text", ("requires", "manual")),
        event("old", "the rule of before"),
        event("a", "a reading", ("constrains", "seed"), ("derived_from", "c")),
        event("b", "b reading"),
        event("c", "c reading", ("requires", "d")),
        event("d", "d reading", ("requires", "e")),
        event("e", "e reading"),
        event("manual", "how the printer works", ("derived_from", "old")),
        event("new", "the rule of today", ("supersedes", "old")),
        *NOISE,
    ]
    order = recall(opened(TypedGraphDense, events, settings), "csv export of reports")
    walked = [item.id for item in order if "hop" in item.signals]
    assert walked == ["seed", "a", "b", "c", "d"]
    events[0] = event("seed", "export reports as csv", ("requires", "old"))
    order = recall(opened(TypedGraphDense, events, settings), "csv export of reports")
    walked = [item.id for item in order if "hop" in item.signals]
    assert walked == ["seed", "new", "a", "c", "d"], "of one hop, the most similar first"


@pytest.mark.parametrize("length", range(2, 7))
def test_dense_seeds_lead_to_the_head_as_well(length: int) -> None:
    arch = opened(TypedGraphDense, chain(length), TypedGraphDense.Settings())
    items = recall(arch, "csv export of reports")
    assert items[0].id == f"m{length}"
    assert "dense" in items[0].signals


def test_dense_without_edges_is_dense() -> None:
    removed = opened(TypedGraphDense, governed(), TypedGraphDense.Settings(edges="removed"))
    found = ids(recall(removed, "export data reports"))
    assert found == ids(recall(opened(Dense, governed()), "export data reports"))


@pytest.mark.parametrize("control", CONTROLS)
def test_controls_keep_the_number_of_edges_and_never_the_edge(control: Edges) -> None:
    events = chain(5) + [replace(e, id=f"g{e.id}") for e in governed()[:1]]
    treated = with_edges(events, control, ("supersedes", "cites"), random.Random(1))
    assert [e.id for e in treated] == [e.id for e in events]
    if control == "removed":
        assert not any(e.edges for e in treated)
        return
    for before, after in zip(events, treated, strict=True):
        assert len(before.edges) == len(after.edges)
        for (relation, target), (new_relation, new_target) in zip(
            before.edges, after.edges, strict=True
        ):
            assert (relation == new_relation) == (control == "rewired")
            assert (target == new_target) == (control == "relabelled")
            assert new_target != after.id


@pytest.mark.parametrize("size", [100, 1000, 10_000])
def test_the_edges_touched_do_not_depend_on_the_size_of_the_corpus(size: int) -> None:
    events = [event(f"d{i}", "", ("constrains", f"d{(i + 1) % size}")) for i in range(size)]
    graph = TypedGraph(events, TypedGraphSettings().relations, 0.4, 16)
    walk = graph.search({"d50": 1.0}, 3)
    assert walk.edges_touched == 10
    assert set(walk.reached) == {f"d{i}" for i in range(47, 54)}


@pytest.mark.parametrize(
    "bad",
    [
        {"seeds": 0},
        {"hops": -1},
        {"fan_out": 0},
        {"decay": -1.0},
        {"trials": 0},
        {"other": 1.5},
        {"relations": {"cites": -0.1}},
    ],
)
def test_settings_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"given, .* expected"):
        TypedGraphSettings(**bad)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("fidelity", [0.95, 0.8])
def test_recall_over_edges_of_fidelity_q_is_q_to_the_depth(depth: int, fidelity: float) -> None:
    """Depth, theorem 9: P_ret(d) = q^d, where each edge of a chain is missing with 1 - q."""
    rng = random.Random(depth)
    n, found = 400, 0
    settings = TypedGraphSettings(seeds=1, hops=depth)
    for _ in range(n):
        events = [
            replace(e, edges=tuple(edge for edge in e.edges if rng.random() < fidelity))
            for e in line(depth)
        ]
        items = recall(opened(TypedGraphMemory, events, settings), "csv")
        found += any(item.id == f"d{depth}" and "hop" in item.signals for item in items)
    low, high = wilson(found, n, level=0.999)
    assert low <= fidelity**depth <= high


@given(TEXTS, st.integers(0, 12), st.integers(0, 3))
def test_the_first_k_are_the_start_of_all(texts: list[str], k: int, superseded: int) -> None:
    events = [
        event(str(i), text, *([("supersedes", str(i - 1))] if 0 < i <= superseded else []))
        for i, text in enumerate(texts)
    ]
    arch = opened(TypedGraphMemory, events, TypedGraphSettings(seeds=1))
    assert recall(arch, "csv law", k) == recall(arch, "csv law")[:k]
