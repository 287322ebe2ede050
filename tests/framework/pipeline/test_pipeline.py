"""The one path, driven with trivial plugins."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.analysis.summary import ledger
from framework.config import Plan
from framework.contracts import Arch, ArchContext, Client, Query
from framework.engine.prepare import build_pipeline
from framework.models.client import book
from framework.pipeline.path import Pipeline
from framework.pipeline.seams import Seams
from framework.records import Answer, Event, Item, MemoryView, Row, TaskCard, Usage
from framework.registry import register
from framework.rows import measured
from tests.measuring import measured_digest
from tests.trivial import trivial_plan


def pipeline_of(plan: Plan) -> Pipeline:
    return build_pipeline(plan, plan.parts["domain"].create())


def run(plan: Plan, pipeline: Pipeline | None = None, **options: Any) -> list[Row]:
    path = pipeline or pipeline_of(plan)
    cases = list(path.domain.cases(plan.top.n_cases, plan.top.seed))
    if options.pop("backwards", False):
        cases.reverse()

    async def collect() -> list[Row]:
        options.setdefault("answer", True)
        return [row async for row, _ in path.rows(cases, frozenset(), k=None, **options)]

    return asyncio.run(collect())


def test_a_case_goes_from_history_to_row() -> None:
    rows = run(trivial_plan(n_cases=3))
    assert [row.case_id for row in rows] == ["t000000", "t000001", "t000002"]
    assert all(row.axes == {"right": 1.0} and not row.error for row in rows)
    assert all(row.view_tokens <= (row.budget_tokens or 0) for row in rows)


@settings(max_examples=30)
@given(
    st.lists(st.text(max_size=300), min_size=1, max_size=5),
    st.integers(8, 60),
    st.sampled_from(["truncate", "whole"]),
)
def test_a_hostile_arm_never_exceeds_the_budget(texts: list[str], limit: int, packing: str) -> None:
    plan = trivial_plan(
        n_cases=1,
        arch={"plugin": "hostile", "texts": texts, "copies": 3},
        budget={"plugin": "trivial", "limit": limit, "packing": packing},
    )
    (row,) = run(plan)
    assert row.view_tokens <= limit


def test_a_failing_case_is_a_row_with_an_error_and_the_others_go_on() -> None:
    plan = trivial_plan(reader={"plugin": "trivial", "fail_on": "7."})
    rows = run(plan)
    failed = [row for row in rows if row.error]
    assert len(rows) == 20
    assert 0 < len(failed) < 20
    (error,) = {row.error for row in failed}
    said, _, place = error.partition(" (")
    assert said == "RuntimeError: the reader was told to fail"
    assert re.fullmatch(r"tests/trivial\.py:\d+\)", place), "file and line of the plugin"
    assert all(row.axes == {} for row in failed)


def test_the_order_of_cases_does_not_matter() -> None:
    plan = trivial_plan()
    assert measured_digest(run(plan)) == measured_digest(run(plan, backwards=True))


def test_cases_under_way_at_once_give_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = trivial_plan()
    one = run(plan)
    path = pipeline_of(plan)
    monkeypatch.setattr(type(path.model), "concurrency", property(lambda self: 8))
    assert measured(run(plan, path)) == measured(one)


def test_keys_that_are_done_are_left_out() -> None:
    plan = trivial_plan(n_cases=4)
    path = pipeline_of(plan)
    cases = list(path.domain.cases(4, 7))

    async def collect() -> list[str]:
        done = frozenset({(cases[1].id, path.arm, 0, 0, 0)})
        return [row.case_id async for row, _ in path.rows(cases, done, answer=True, k=None)]

    assert asyncio.run(collect()) == [cases[i].id for i in (0, 2, 3)]


def test_without_an_answer_no_axis_that_needs_one_is_asked() -> None:
    rows = run(trivial_plan(n_cases=2), answer=False)
    assert all(row.axes == {} and row.decision == "" for row in rows)


@register("arch", "spy")
class Spy(Arch[Any]):
    """Keeps what it was given."""

    seen: ClassVar[list[Any]] = []

    def ingest(self, events: Iterable[Event]) -> None:
        self.seen.append(("events", [e.edges for e in events], self.context))

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        self.seen.append(("query", query, k))
        return []


def test_an_arm_is_told_only_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    Spy.seen.clear()
    run(trivial_plan(n_cases=1, arch={"plugin": "spy"}))
    (_, edges, context), (_, query, _) = Spy.seen
    assert edges == [(), ()]
    assert isinstance(context, ArchContext)
    assert (query.task, query.gold, context.fields) == (None, None, ())
    Spy.seen.clear()
    measuring = pipeline_of(trivial_plan(arch={"plugin": "spy"}, extra_axes=["drift"]))
    assert measuring.embedder is not None
    assert measuring.open_arch("h", 0).context.embedder is None, "an axis asked for it, no arm"
    monkeypatch.setattr(Spy, "sees_task", True)
    monkeypatch.setattr(Spy, "sees_gold", True)
    monkeypatch.setattr(Spy, "query", "none")
    Spy.seen.clear()
    run(trivial_plan(n_cases=1, arch={"plugin": "spy"}))
    query = Spy.seen[1][1]
    assert query.text == ""
    assert query.task is not None
    assert query.gold is not None


@pytest.mark.parametrize(
    ("given", "named"), [(None, "NoneType"), (["a text"], "str"), ("x", "str")]
)
def test_what_is_no_item_is_told_in_the_row(
    monkeypatch: pytest.MonkeyPatch, given: Any, named: str
) -> None:
    monkeypatch.setattr(Spy, "recall", lambda self, query, k: given)
    (row,) = run(trivial_plan(n_cases=1, arch={"plugin": "spy"}))
    assert row.error == f"TypeError: recall is to give items; it gave a {named}"


def test_a_history_is_ingested_once_for_all_its_cases() -> None:
    Spy.seen.clear()
    plan = trivial_plan(n_cases=1, arch={"plugin": "spy"}, repeats=3)
    rows = run(plan)
    assert len(rows) == 3
    assert [kind for kind, *_ in Spy.seen].count("events") == 1


def test_an_ingest_that_repeats_share_is_booked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of an arm that asks an embedder: the ledger and the cost of being right count it once."""
    ingest = Spy.ingest

    def embedding(self: Spy, events: Iterable[Event]) -> None:
        book(Usage(calls=1, tokens_in=100))
        ingest(self, events)

    monkeypatch.setattr(Spy, "ingest", embedding)
    rows = run(trivial_plan(n_cases=2, arch={"plugin": "spy"}, repeats=3))
    assert ledger(rows)["ingest"]["calls"] == 2
    assert {row.repeat for row in rows if "ingest" in row.usage} == {0}


def test_every_draw_of_a_history_is_ingested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # More trials than memories are kept, and cases that come back to the same history.
    monkeypatch.setattr(Spy, "trials", property(lambda self: 12))
    plan = trivial_plan(n_cases=2, arch={"plugin": "spy"}, repeats=2)
    path = pipeline_of(plan)
    cases = [replace(case, history_id="h") for case in path.domain.cases(2, 7)]
    monkeypatch.setattr(path.domain, "history", lambda history_id: iter(()))
    Spy.seen.clear()

    async def collect() -> int:
        return len([row async for row in path.rows(cases, frozenset(), answer=True, k=None)])

    assert asyncio.run(collect()) == 2 * 12 * 2
    assert [kind for kind, *_ in Spy.seen].count("events") == 12


def test_the_seams_edit_the_path_in_their_places() -> None:
    plan = trivial_plan(n_cases=1)
    seams = Seams(
        score=lambda query, items: list(reversed(items)),
        assembly=lambda query, items: items[:1],
    )
    (row,) = run(plan, replace(pipeline_of(plan), seams=seams))
    assert row.axes["right"] in (0.0, 1.0)
    assert row.view_tokens == 7  # "Nothing of note on day 1."


def test_what_is_done_to_an_answer_is_done_before_it_is_scored() -> None:
    seen: list[tuple[str, str]] = []

    async def turned(task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        seen.append((task.instruction, view.text))
        return replace(answer, decision="NO" if answer.decision == "YES" else "YES")

    plan = trivial_plan(n_cases=4)
    seams = Seams(reader_prompt={"guidance": "Mind."}, answer=turned)
    rows = run(plan, replace(pipeline_of(plan), seams=seams))
    assert [row.axes["right"] for row in rows] == [0.0] * 4
    assert len(seen) == 4
    assert all(card.endswith("Mind.") and "The number is" in view for card, view in seen)


def test_repeats_and_draws_are_rows_of_their_own() -> None:
    plan = trivial_plan(n_cases=2, repeats=2, arch={"plugin": "random_context", "trials": 3})
    keys = {(row.case_id, row.trial, row.repeat) for row in run(plan)}
    assert len(keys) == 2 * 2 * 3


def test_a_cutoff_does_not_cut_an_unbudgeted_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = trivial_plan(n_cases=1, arch={"plugin": "spy"})
    path = pipeline_of(plan)
    (case,) = path.domain.cases(1, 7)

    def asked() -> list[int]:
        Spy.seen.clear()

        async def collect() -> None:
            async for _ in path.rows([case], frozenset(), answer=True, k=3):
                pass

        asyncio.run(collect())
        return [most for kind, *_, most in Spy.seen if kind == "query"]

    assert asked() == [3]
    monkeypatch.setattr(Spy, "unbudgeted", True)
    (most,) = asked()
    assert most > 10**9
