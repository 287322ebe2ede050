"""Edits as data: what the static gate takes, what they do to items, and that requests show it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Query
from framework.contracts.improve import SEAMS, Seam
from framework.engine.prepare import build_pipeline
from framework.pipeline.ingest import Memories
from framework.records import Item
from framework.text.canonical import digest
from plugins.protocols.improve import seams
from plugins.protocols.improve.stack import Candidate, Rejected, Stack, read_candidate
from tests.plugins.protocols.improve import probed
from tests.trivial import trivial_plan

assert probed, "importing it registers the reader"
QUERY = Query(text="How much is the rent?")


def item(n: int, text: str = "", **signals: float) -> Item:
    known = {f"source_{name}": float(value) for name, value in signals.items()}
    return Item(id=f"i{n}", text=text or f"text {n}", signals=known, source_ids=(f"s{n}",))


def ids(items: Sequence[Item]) -> list[int]:
    return [int(i.id[1:]) for i in items]


ITEMS = [
    item(0, "The rent is due.", position=3, time=30, session=1, speaker=0),
    item(1, "Rent: 900 dollars", position=0, time=10, session=0, speaker=1),
    item(2, "We talked of cats.", position=2, time=20, session=1, speaker=1),
    item(3, "We talked of cats!", position=1, time=40, session=1, speaker=0),
]


@pytest.mark.parametrize(
    ("expression", "order"),
    [
        ("similarity", [0, 1, 2, 3]),
        ("-similarity", [3, 2, 1, 0]),
        ("recency", [3, 0, 2, 1]),
        ("position", [0, 2, 3, 1]),
        ("speaker", [1, 2, 0, 3]),
        ("number_density", [1, 0, 2, 3]),
        ("term_overlap", [0, 1, 2, 3]),
        ("similarity + 2 * term_overlap - 5 * speaker", [0, 3, 1, 2]),
        ("min(similarity, 0.5)", [0, 1, 2, 3]),
    ],
)
def test_a_score_orders_by_its_signals(expression: str, order: list[int]) -> None:
    assert ids(seams.score(expression)(QUERY, ITEMS)) == order


def rules(*given: dict[str, Any]) -> list[int]:
    seams.check_payload("assembly", {"rules": list(given)}, ())
    return ids(seams.assembly(given)(QUERY, ITEMS))


def test_each_assembly_rule() -> None:
    by_time = {"rule": "reorder", "by": "time", "order": "ascending", "first": 3}
    assert rules(by_time) == [1, 2, 0, 3]
    assert rules({**by_time, "order": "descending", "first": 500}) == [3, 0, 2, 1]
    assert rules({"rule": "dedupe", "overlap": 0.9}) == [0, 1, 2]
    assert rules({"rule": "neighbour", "distance": 1, "first": 1}) == [0, 2, 1, 3]
    assert rules({"rule": "session_quota", "most": 1}) == [0, 1, 2, 3]
    assert rules({"rule": "session_quota", "most": 2}) == [0, 1, 2, 3]
    moved = {"rule": "session_quota", "most": 1}
    assert rules({**by_time, "first": 500}, moved) == [1, 2, 0, 3]


@given(st.permutations(range(12)), st.integers(1, 4), st.integers(1, 3))
def test_only_dedupe_drops_items(order: list[int], most: int, distance: int) -> None:
    items = [item(n, position=n, time=n, session=n // 3) for n in order]
    for rule in (
        {"rule": "session_quota", "most": most},
        {"rule": "neighbour", "distance": distance, "first": most},
        {"rule": "reorder", "by": "session", "order": "descending", "first": 5},
    ):
        assert sorted(ids(seams.assembly([rule])(QUERY, items))) == list(range(12))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("no object", "not one JSON object"),
        ("[1]", "not one JSON object"),
        ("x" * 30_000, "at most 20000 are read"),
        ('{"seam": "judge"}', "seam: one of"),
        ('{"seam": "score", "expression": "gold"}', "no signals ['gold']"),
        ('{"seam": "score", "expression": "similarity", "more": 1}', "nothing else expected"),
        ('{"seam": "score", "expression": "1 / similarity"}', "division by zero"),
        ('{"seam": "score", "expression": "().__class__"}', "not arithmetic"),
        ('{"seam": "assembly", "rules": []}', "1 to 8 rules"),
        ('{"seam": "assembly", "rules": [{"rule": "x"}]}', "no such rule"),
        ('{"seam": "assembly", "rules": [{"rule": "dedupe"}]}', "dedupe takes ['overlap']"),
        ('{"seam": "assembly", "rules": [{"rule": "dedupe", "overlap": 0}]}', "0.3 to 1"),
        ('{"seam": "assembly", "rules": [{"rule": "session_quota", "most": true}]}', "a number"),
        ('{"seam": "reader_prompt", "fragments": {"system": "x"}}', "new fragments"),
        ('{"seam": "reader_prompt", "fragments": {"guidance": " "}}', "empty"),
        ('{"seam": "reader_prompt", "fragments": {}}', "names with the text"),
    ],
)
def test_the_static_gate_says_why(text: str, said: str) -> None:
    with pytest.raises(Rejected) as rejected:
        read_candidate(text, SEAMS, {"guidance": ""})
    assert said in str(rejected.value)


def test_two_thousand_characters_are_the_most() -> None:
    draft = '{"seam": "reader_prompt", "fragments": {"guidance": "%s"}}'
    assert read_candidate(draft % ("x" * 2_000), SEAMS, {"guidance": ""}).added == 2_000
    with pytest.raises(Rejected, match="2001 characters added"):
        read_candidate(draft % ("x" * 2_001), SEAMS, {"guidance": ""})


def test_only_an_assigned_seam_is_taken() -> None:
    with pytest.raises(Rejected, match="one of assembly expected"):
        read_candidate('{"seam": "score", "expression": "similarity"}', ("assembly",), {})


SCORE = Candidate(seam="score", payload={"expression": "-similarity"})
ASSEMBLY = Candidate(
    seam="assembly",
    payload={"rules": [{"rule": "reorder", "by": "position", "order": "descending", "first": 9}]},
)
PROMPT = Candidate(seam="reader_prompt", payload={"fragments": {"guidance": "Mind it."}})


@pytest.mark.parametrize("candidate", [SCORE, ASSEMBLY, PROMPT], ids=lambda c: c.seam)
def test_a_probe_at_each_seam_changes_the_recorded_request(candidate: Candidate) -> None:
    plan = trivial_plan(domain={"plugin": "trivial", "events": 4}, reader={"plugin": "probed"})
    pipeline = build_pipeline(plan, plan.parts["domain"].create())

    def requests(stack: Stack) -> list[str]:
        pipe = replace(
            pipeline,
            seams=stack.seams({"guidance": ""}),
            traces_sources=True,
            memories=Memories(),  # each asyncio.run is a loop of its own
        )

        async def asked() -> list[str]:
            cases = list(pipe.domain.cases(3, 1))
            return [digest(record["prompts"]) async for _, record in pipe.sampled(cases, 0)]

        return asyncio.run(asked())

    bare = requests(Stack())
    edited = requests(Stack().plus(candidate))
    assert all(a != b for a, b in zip(bare, edited, strict=True))


def test_a_stack_is_immutable_ordered_and_named_by_content() -> None:
    stack = Stack().plus(SCORE).plus(PROMPT)
    assert stack.digest != Stack().plus(PROMPT).plus(SCORE).digest
    assert stack.without(SCORE) == Stack().plus(PROMPT)
    assert stack.without(SCORE).plus(SCORE).digest != stack.digest
    other = Candidate(seam="score", payload={"expression": "-similarity"}, why="other words")
    assert stack.holds(other)
    # Two prompts: taking one out leaves the other, whichever came first.
    second = Candidate(seam="reader_prompt", payload={"fragments": {"guidance": "And that."}})
    both = stack.plus(second)
    assert both.fragments({"guidance": "Base."}) == {"guidance": "Base.\nMind it.\nAnd that."}
    assert both.without(PROMPT).fragments({"guidance": ""}) == {"guidance": "And that."}
    assert both.added == len("Mind it.") + len("And that.")


def test_scores_are_chained() -> None:
    reverse: Seam = "score"
    twice = Stack().plus(SCORE)
    again = Candidate(seam=reverse, payload={"expression": "-similarity + 0"})
    edit = twice.plus(again).seams({}).score
    assert edit is not None
    assert ids(edit(QUERY, ITEMS)) == [0, 1, 2, 3]
