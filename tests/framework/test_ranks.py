"""What a record keeps of a ranking, and that it is enough to score it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Scored
from framework.engine.protocols.rescore import _view
from framework.pipeline.pack import pack
from framework.records import Case, Gold, GoldItem, Item, MemoryView, Retired, Row, Span, TaskCard
from framework.registry import NoSettings
from framework.retention.ranks import BEYOND, event_ranks, kept_trace
from framework.store.state import load_state
from framework.text.canonical import canonical_json
from plugins.axes.chain import Chain
from plugins.axes.ranking import Ranking
from plugins.axes.session_ranking import Sessions
from tests.launching import framework, run

EVENTS = [f"s{n % 40}.{n}" for n in range(200)]
SOURCES = st.lists(st.sampled_from(EVENTS), max_size=3, unique=True).map(tuple)
RANKINGS = st.lists(SOURCES, max_size=120)
SOME = st.lists(st.sampled_from(EVENTS), max_size=4, unique=True).map(tuple)


def gold_of(items: tuple[str, ...], evidence: tuple[str, ...], old: tuple[str, ...]) -> Gold:
    return Gold(
        items=tuple(
            GoldItem(id=e, kind="passage", key=e, spans=(Span(source_id=e, text=e),)) for e in items
        ),
        evidence=evidence,
        governing=items[:2],
        chain=items,
        entry=items[-1] if items else "",
        retired=(Retired(key="k", type="t", value="v", source_ids=old),) if old else (),
    )


def scores(view: MemoryView, gold: Gold) -> dict[str, Any]:
    none = cast(Any, None)
    case = Case(id="c", history_id="h", task=TaskCard(instruction="i", query="q"), gold=gold)
    retained = {item.id: True for item in gold.items}
    scored = Scored(
        case=case, domain=none, view=view, answer=None, retained=retained, judge=None, client=none
    )
    ranking, chain = Ranking(NoSettings()).score(scored), Chain(NoSettings()).score(scored)
    sessions = Sessions(NoSettings()).score(scored)
    said = (*ranking.evidence, *chain.evidence)
    return {**ranking.values, **chain.values, **sessions.values, "said": said}


def read_again(view: MemoryView, record: Mapping[str, Any]) -> MemoryView:
    row = Row(case_id="c", arm="a", view_tokens=view.tokens, budget_tokens=view.budget_tokens)
    return _view(row, json.loads(canonical_json({"view": view.items, **record})))


@given(RANKINGS, st.integers(0, 40), st.sampled_from(["truncate", "whole"]), SOME, SOME, SOME)
def test_what_is_kept_scores_as_the_whole_ranking_did(
    ranking: list[tuple[str, ...]],
    budget: int,
    packing: Any,
    items: tuple[str, ...],
    evidence: tuple[str, ...],
    old: tuple[str, ...],
) -> None:
    recalled = [
        Item(id=f"i{n}", text="x " * (1 + n % 5), source_ids=sources)
        for n, sources in enumerate(ranking)
    ]
    view, gold = pack(recalled, budget, packing), gold_of(items, evidence, old)
    whole = scores(view, gold)
    kept = kept_trace(view, gold)
    assert scores(read_again(view, kept), gold) == whole
    # A record of before: the whole trace, and no ranks.
    assert scores(read_again(view, {"trace": view.trace}), gold) == whole
    named = {*items, *evidence, *old}
    out = [entry for entry in kept["trace"] if entry.placed == "out"]
    assert kept["recalled"] == len(recalled)
    assert [e for e in kept["trace"] if e.placed != "out"] == [
        e for e in view.trace if e.placed != "out"
    ]
    assert out[:BEYOND] == [e for e in view.trace if e.placed == "out"][:BEYOND]
    ranks = event_ranks(view)
    first = {event.partition(".")[0]: event for event in reversed(list(ranks))}.values()
    assert all(named & set(entry.source_ids) for entry in out[BEYOND:])
    assert kept["ranks"].items() <= ranks.items()
    assert named & ranks.keys() <= kept["ranks"].keys() <= named | set(first)


def test_the_place_of_a_session_is_kept_however_long_those_before_it_are() -> None:
    """Rescored from the ranks of gold alone, every session with evidence came first."""
    recalled = [Item(id=f"i{n}", text="x", source_ids=(f"s{n // 40}.{n}",)) for n in range(12 * 40)]
    for packing in ("truncate", "whole"):
        view = pack(recalled, 5, cast(Any, packing))
        for session, places in ((1, (1.0, 1.0)), (3, (0.0, 1.0)), (11, (0.0, 0.0))):
            gold = Gold(evidence=(f"s{session}.{session * 40 + 7}",))
            again = scores(read_again(view, kept_trace(view, gold)), gold)
            assert again == scores(view, gold)
            found = again["session_recall_at_2"], again["session_recall_at_5"]
            assert found == places


LONG = (
    *("domain=longmemeval_synthetic", "domain.sessions=40", "n_cases=3", "arch=chat_log"),
    "extra_axes=[session_ranking]",
    *("budget=absolute", "budget.tokens=200", "tracking=none", "report=false"),
)


@pytest.mark.slow
def test_a_run_keeps_the_view_fifty_ranks_and_gold_and_is_scored_again_from_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    done = run(capsys, *LONG, f"hydra.run.dir={tmp_path / 'old'}")
    assert done.status == 0, done.err
    records = list(map(json.loads, (tmp_path / "old" / "answers.jsonl").read_text().splitlines()))
    for record in records:
        assert record["recalled"] > 120
        assert len(record["trace"]) <= len(record["view"]) + BEYOND + 8
    done = framework(
        capsys, "rescore", str(tmp_path / "old"), "judge=rules", "--out", str(tmp_path / "new")
    )
    assert done.status == 0, done.err
    old, new = (load_state(tmp_path / name).rows for name in ("old", "new"))
    assert [row.axes for row in old] == [row.axes for row in new]
    assert all(row.axes["mrr"] is not None for row in old if row.expected != "ABSTAIN")
    case = records[0]["key"][0]
    shown = framework(capsys, "show", str(tmp_path / "old"), f"case={case}").out
    out = records[0]["recalled"] - len(records[0]["view"]) - 12
    assert f"and {out} more that are out" in " ".join(shown.split())
