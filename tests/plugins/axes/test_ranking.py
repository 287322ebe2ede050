from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, R, nDCG
from rank_bm25 import BM25Okapi

from framework.contracts import Domain, Scored
from framework.records import Case, Event, Gold, MemoryView, TaskCard, TraceEntry
from framework.registry import NoSettings, find, settings_of
from framework.retention import event_ranks
from plugins.axes.ranking import Ranking
from plugins.domains.passages.hotpotqa import HotpotQA, HotpotQASettings

FIXTURE = Path(__file__).parents[2] / "fixtures" / "hotpotqa" / "questions.json"


def entry(rank: int, *sources: str, placed: str = "in") -> TraceEntry:
    return TraceEntry(
        item_id=f"item{rank}",
        rank=rank,
        tokens=5,
        tokens_kept=5 if placed == "in" else 0,
        placed=placed,
        why="",
        source_ids=sources,
    )


def score(trace: Iterable[TraceEntry], evidence: Iterable[str]) -> Mapping[str, float | None]:
    gold = Gold(evidence=tuple(evidence))
    case = Case(id="c", history_id="h", task=TaskCard(instruction="", query="q"), gold=gold)
    view = MemoryView(items=(), tokens=0, budget_tokens=0, trace=tuple(trace))
    scored = Scored(
        case=case,
        domain=cast(Any, None),
        view=view,
        answer=None,
        retained={},
        judge=None,
        client=cast(Any, None),
    )
    return Ranking(NoSettings()).score(scored).values


def viewed(trace: Iterable[TraceEntry]) -> MemoryView:
    return MemoryView(items=(), tokens=0, budget_tokens=0, trace=tuple(trace))


def trace_of(events: Iterable[str]) -> list[TraceEntry]:
    return [entry(rank, event) for rank, event in enumerate(events, start=1)]


def reference(
    evidence: Mapping[str, Iterable[str]], rankings: Mapping[str, list[str]]
) -> dict[str, dict[str, float]]:
    """The same values by ir-measures (trec_eval's code), per query; ties broken by the rank."""
    qrels = {query: dict.fromkeys(gold, 1) for query, gold in evidence.items()}
    run = {query: {e: -float(i) for i, e in enumerate(r)} for query, r in rankings.items()}
    columns = {
        "recall_at_2": R @ 2,
        "recall_at_5": R @ 5,
        "ndcg_at_10": nDCG @ 10,
        "mrr": RR,
        "map": AP,
    }
    found: dict[str, dict[str, float]] = {query: {} for query in qrels}
    for metric in ir_measures.iter_calc(list(columns.values()), qrels, run):
        name = next(n for n, m in columns.items() if m == metric.measure)
        found[metric.query_id][name] = metric.value
    for values in found.values():
        values["both_facts"] = float(values["recall_at_5"] == 1.0)
    return found


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def bm25_agrees(domain: Domain[Any]) -> dict[str, float]:
    """Rank with rank-bm25, compare axis and ir-measures case by case; the axis's means.

    A case without evidence has no ranking to measure.
    """
    evidence, rankings, ours = {}, {}, {}
    ranks: dict[str, tuple[list[Event], BM25Okapi]] = {}
    for case in domain.cases(None, seed=0):
        if not case.gold.evidence:
            continue
        if case.history_id not in ranks:
            events = list(domain.history(case.history_id))
            ranks[case.history_id] = (events, BM25Okapi([words(e.text) for e in events]))
        events, bm25 = ranks[case.history_id]
        scores = bm25.get_scores(words(case.task.query))
        order = np.argsort(-scores, kind="stable")
        evidence[case.id] = case.gold.evidence
        rankings[case.id] = [events[i].id for i in order]
        ours[case.id] = score(trace_of(rankings[case.id]), case.gold.evidence)
    theirs = reference(evidence, rankings)
    assert ours.keys() == theirs.keys()
    for case_id, values in ours.items():
        assert values == pytest.approx(theirs[case_id], abs=1e-9), case_id
    return {
        name: float(np.mean([cast(float, v[name]) for v in ours.values()]))
        for name in Ranking.names
    }


@pytest.mark.parametrize("corpus", ["pooled", "own"])
def test_agrees_with_ir_measures_on_bm25_rankings_of_the_fixture(corpus: Any) -> None:
    means = bm25_agrees(
        HotpotQA(HotpotQASettings(path=str(FIXTURE), corpus=corpus, unknown_file=True))
    )
    assert 0 < means["recall_at_2"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["pooled", "own"])
def test_agrees_with_ir_measures_on_bm25_rankings_of_real_data(corpus: Any, data_dir: Path) -> None:
    path = data_dir / "hotpotqa" / "hotpotqa_train.json"
    means = bm25_agrees(HotpotQA(HotpotQASettings(path=str(path), corpus=corpus)))
    assert means["recall_at_2"] <= means["recall_at_5"]
    assert means["both_facts"] <= means["recall_at_5"]


@pytest.mark.slow
@pytest.mark.parametrize("granularity", ["turn", "session"])
@pytest.mark.parametrize(
    ("name", "file", "n"),
    [
        ("locomo", "locomo/locomo_first5.json", 700),
        ("longmemeval", "longmemeval/snapshot.json", 10),
    ],
)
def test_agrees_with_ir_measures_on_bm25_rankings_of_chats(
    name: str, file: str, n: int, granularity: str, data_dir: Path
) -> None:
    plugin = find("domain", name)
    given = {"path": str(data_dir / file), "granularity": granularity}
    domain = plugin.cls(settings_of(plugin, given))
    assert sum(bool(case.gold.evidence) for case in domain.cases(None, seed=0)) >= n
    means = bm25_agrees(domain)
    assert 0 < means["recall_at_2"] <= means["recall_at_5"]
    assert means["both_facts"] <= means["recall_at_5"]


EVENTS = st.sampled_from([f"e{i}" for i in range(15)])


@given(ranking=st.lists(EVENTS, unique=True), gold=st.lists(EVENTS, unique=True, min_size=1))
def test_agrees_with_ir_measures_on_any_ranking(ranking: list[str], gold: list[str]) -> None:
    # ir-measures scores a query that is missing from the run 0, as an empty recall is scored here.
    expected = reference({"q": gold}, {"q": ranking} if ranking else {})
    assert score(trace_of(ranking), gold) == pytest.approx(expected["q"], abs=1e-9)


@given(
    ranking=st.lists(EVENTS, unique=True),
    more=st.lists(EVENTS, unique=True),
    gold=st.lists(EVENTS, unique=True, min_size=1),
)
def test_recalling_more_below_never_lowers_a_value(
    ranking: list[str], more: list[str], gold: list[str]
) -> None:
    shorter, longer = score(trace_of(ranking), gold), score(trace_of(ranking + more), gold)
    for name in Ranking.names:
        assert 0.0 <= cast(float, shorter[name]) <= cast(float, longer[name]) <= 1.0


def test_values_by_hand() -> None:
    values = score(trace_of(["x", "a", "y", "z", "b"]), ["a", "b"])
    dcg = 1 / np.log2(3) + 1 / np.log2(6)
    assert values == pytest.approx(
        {
            "recall_at_2": 0.5,
            "recall_at_5": 1.0,
            "ndcg_at_10": dcg / (1 + 1 / np.log2(3)),
            "mrr": 0.5,
            "map": (1 / 2 + 2 / 5) / 2,
            "both_facts": 1.0,
        }
    )


def test_both_facts_needs_all_evidence_in_the_first_five() -> None:
    assert score(trace_of("axyzub"), "ab")["both_facts"] == 0.0
    assert score(trace_of("axyzb"), "ab")["both_facts"] == 1.0


def test_the_budget_plays_no_part() -> None:
    inside = [entry(1, "a"), entry(2, "b")]
    outside = [entry(1, "a"), entry(2, "b", placed="out")]
    assert score(inside, "ab") == score(outside, "ab")


def test_rank_counts_and_not_the_order_of_the_trace() -> None:
    assert score([entry(3, "b"), entry(1, "x"), entry(2, "a")], "ab")["mrr"] == 0.5


def test_an_event_counts_once_at_its_best_rank() -> None:
    trace = [entry(1, "a"), entry(2, "a"), entry(3, "a", "b"), entry(4, "c")]
    assert event_ranks(viewed(trace)) == {"a": 1, "b": 2, "c": 3}
    assert score(trace, "ab")["recall_at_2"] == 1.0


def test_an_item_without_source_takes_up_a_rank() -> None:
    trace = [entry(1), entry(2), entry(3, "a")]
    assert event_ranks(viewed(trace)) == {"a": 3}
    assert score(trace, "a")["recall_at_2"] == 0.0
    assert score(trace, "a")["mrr"] == pytest.approx(1 / 3)


def test_nothing_recalled_is_zero_and_no_evidence_is_undefined() -> None:
    assert score([], "ab") == dict.fromkeys(Ranking.names, 0.0)
    assert score(trace_of("ab"), "") == dict.fromkeys(Ranking.names)


def test_repeated_evidence_counts_once() -> None:
    assert score(trace_of("ab"), ["a", "a"]) == dict.fromkeys(Ranking.names, 1.0)


def test_evidence_is_told_for_people() -> None:
    gold = Gold(evidence=("a", "b"))
    case = Case(id="c", history_id="h", task=TaskCard(instruction="", query="q"), gold=gold)
    view = MemoryView(items=(), tokens=0, budget_tokens=0, trace=(entry(1, "x"), entry(2, "a")))
    none = cast(Any, None)
    result = Ranking(NoSettings()).score(
        Scored(case=case, domain=none, view=view, answer=None, retained={}, judge=None, client=none)
    )
    assert result.evidence == ("a: rank 2", "b: not recalled")


def test_declares_every_column() -> None:
    assert not Ranking.needs_answer
    assert Ranking.names == Ranking.names
    assert Ranking.higher_is_better == dict.fromkeys(Ranking.names, True)
    assert Ranking.model_free == set(Ranking.names)
