"""The schema of decision corpora: what is written is read back, and what is wrong is named."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import DataError
from plugins.domains.corpus.schema import (
    RELATIONS,
    SCHEMA,
    Edge,
    parse_corpus,
    write_corpus,
)

FIXTURE = Path(__file__).parents[3] / "fixtures" / "decision_corpus" / "harbour.jsonl"
HEADER = {
    "record": "corpus",
    "schema": SCHEMA,
    "name": "n",
    "source": "s",
    "revision": "r",
    "licence": "l",
    "citation": "c",
}


def node(name: str, **values: Any) -> dict[str, Any]:
    given = {"id": name, "title": name, "text": "text", "date": "2020-01-01", **values}
    return {"record": "node", **{k: v for k, v in given.items() if v is not None}}


def edge(source: str, relation: str, target: str) -> dict[str, Any]:
    return {"record": "edge", "type": relation, "from": source, "to": target}


def lines(*records: Any) -> bytes:
    return b"".join(
        (r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records
    )


@pytest.mark.parametrize(
    ("records", "line", "said"),
    [
        ([HEADER, b"{not json"], 2, "not JSON"),
        ([HEADER, b"\xff\xfe"], 2, "not UTF-8 text"),
        ([HEADER, [1]], 2, "a JSON object expected"),
        ([node("a")], 1, "the first record must be 'corpus', 'node' found"),
        ([{**HEADER, "schema": "other"}, node("a")], 1, "schema: 'decision-corpus-1' expected"),
        ([HEADER, {"record": "vertex"}], 2, "record: 'node' or 'edge' expected, 'vertex' found"),
        ([HEADER, node("a"), HEADER], 3, "record: 'node' or 'edge' expected, 'corpus' found"),
        ([HEADER, node("a"), node("b"), node("a")], 4, "a second node with the id 'a'"),
        ([HEADER, node("a", text="  ")], 2, "text: empty"),
        ([HEADER, node("a", text=None)], 2, "text: missing"),
        ([HEADER, node("a", title=7)], 2, "title: text expected, 7 found"),
        ([HEADER, node("a", colour="red")], 2, "unknown key 'colour'"),
        ([HEADER, node("a", date="last May")], 2, "date: 'last May' is no ISO 8601 date"),
        ([HEADER, node("a b")], 2, "id: 'a b' holds white space or '#'"),
        ([HEADER, node("a"), node("b"), edge("a", "replaces", "b")], 4, "unknown type 'replaces'"),
        ([HEADER, node("a"), edge("a", "cites", "a")], 3, "'a' cites itself"),
        ([HEADER, edge("a", "cites", "b"), node("a")], 2, "dangling edge: to 'b'"),
        ([HEADER, node("b"), edge("a", "cites", "b")], 3, "dangling edge: from 'a'"),
        (
            [HEADER, node("a"), node("b"), edge("a", "cites", "b"), edge("a", "cites", "b")],
            5,
            "the same edge as on line 4",
        ),
    ],
)
def test_a_bad_record_is_named(records: list[Any], line: int, said: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_corpus(lines(*records), Path("corpus.jsonl"))
    assert str(caught.value).startswith(f"corpus.jsonl:{line}: {said}")


@pytest.mark.parametrize(("records", "said"), [([], "empty"), ([HEADER], "no nodes")])
def test_a_file_without_records_is_named(records: list[Any], said: str) -> None:
    with pytest.raises(DataError, match=rf"^corpus.jsonl: {said}$"):
        parse_corpus(lines(*records), Path("corpus.jsonl"))


@pytest.mark.parametrize("length", [2, 3, 6])
def test_a_ring_of_supersession_is_refused(length: int) -> None:
    names = [f"d{i}" for i in range(length)]
    ring = [edge(names[i - 1], "supersedes", names[i]) for i in range(length)]
    outside = edge("z", "supersedes", "d0")
    records = [HEADER, *(node(name) for name in [*names, "z"]), outside, *ring]
    with pytest.raises(DataError) as caught:
        parse_corpus(lines(*records), Path("corpus.jsonl"))
    message = str(caught.value)
    assert message.startswith(f"corpus.jsonl:{len(records)}: cycle: ")
    found = message.partition("cycle: ")[2].split(" supersedes ")
    assert found[0] == found[-1]
    assert sorted(found[1:]) == sorted(names)


def test_other_relations_may_run_in_a_ring_and_chains_may_meet() -> None:
    records = [HEADER, *(node(name) for name in "abcd")]
    records += [edge("a", "requires", "b"), edge("b", "requires", "a")]
    records += [edge("b", "supersedes", "a"), edge("c", "supersedes", "a")]
    records += [edge("d", "supersedes", "b"), edge("d", "supersedes", "c")]
    assert len(parse_corpus(lines(*records), Path("x")).edges) == 6


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda p: p[0] != p[1]),
        max_size=12,
        unique=True,
    )
)
def test_supersession_is_refused_exactly_when_it_has_a_ring(pairs: list[tuple[int, int]]) -> None:
    records = [HEADER, *(node(f"d{i}") for i in range(6))]
    records += [edge(f"d{a}", "supersedes", f"d{b}") for a, b in pairs]
    left = set(pairs)
    while heads := {a for a, _ in left} - {b for _, b in left}:
        left = {(a, b) for a, b in left if a not in heads}
    refused = pytest.raises(DataError, match="cycle") if left else nullcontext()
    with refused:
        parse_corpus(lines(*records), Path("x"))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    corpus = parse_corpus(FIXTURE.read_bytes(), FIXTURE)
    assert corpus.nodes["adr-9"].title == "Reservations as an append-only ledger"
    assert Edge(source="adr-9", relation="supersedes", target="adr-4") in corpus.edges
    changed = replace(corpus, nodes={**corpus.nodes, "x": replace(corpus.nodes["note-3"], id="x")})
    write_corpus(changed, tmp_path / "c.jsonl")
    assert parse_corpus((tmp_path / "c.jsonl").read_bytes(), FIXTURE) == changed
    again = tmp_path / "again.jsonl"
    write_corpus(changed, again)
    assert again.read_bytes() == (tmp_path / "c.jsonl").read_bytes()


def test_every_relation_is_read() -> None:
    records = [HEADER, node("a"), node("b"), *(edge("a", r, "b") for r in RELATIONS)]
    assert [e.relation for e in parse_corpus(lines(*records), Path("x")).edges] == list(RELATIONS)
