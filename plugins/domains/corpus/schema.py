"""The JSON lines of a decision corpus: a header, documents, and typed edges between them.

One JSON object a line, told apart by `record`: first one `corpus`, then `node` and `edge` records
in any order (decision-corpus.md). Reading checks everything: a corpus that was read is
sound, and one that is not ends in the file, the line and what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError
from plugins.domains.corpus.dates import iso_date
from plugins.domains.data_file import BadRecordError, Faults, is_json, loads

SCHEMA: Final = "decision-corpus-1"
"""Name of the schema, the value of `schema` in the first record."""

RELATIONS: Final[Mapping[str, str]] = {
    "supersedes": "replaces it: the target no longer holds",
    "amends": "changes a part of it: the rest of the target still holds",
    "constrains": "sets bounds that the target must keep",
    "implements": "carries it out",
    "requires": "can't hold without it",
    "derived_from": "follows from it",
    "supports": "is evidence for it",
    "cites": "mentions it",
    "relates_to": "has to do with it",
}
"""The relations of an edge from one document to another, and what they say."""

_ID: Final = re.compile(r"[^\s#]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A document. `date` is as `iso_date` has it; `summary` its abstract, empty where none."""

    id: str
    title: str
    text: str
    date: str
    summary: str = ""
    kind: str = "decision"
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """`source` bears `relation` (one of `RELATIONS`) to `target`; both are ids of nodes."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Documents by id in order of the file, their edges, and where they come from."""

    name: str
    source: str
    revision: str
    licence: str
    citation: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]


_HEADER: Final = ("name", "source", "revision", "licence", "citation")


def parse_corpus(data: bytes, path: Path) -> Corpus:
    """The corpus that a file's bytes hold; `path` is for messages. Raises DataError."""
    header: Mapping[str, str] | None = None
    nodes: dict[str, Node] = {}
    edges: dict[Edge, int] = {}
    faults = Faults(path)
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    if lines and not is_json(lines[0][1], dict) and is_json(data):
        raise DataError(path, None, "JSON, where JSON lines are expected: one object a line")
    for number, line in lines:
        with faults.of(number):
            record = _record(line)
            kind = record.pop("record", None)
            if number == lines[0][0]:
                header = _header(kind, record)
            elif kind == "node":
                node = _node(record)
                if node.id in nodes:
                    raise BadRecordError(f"a second node with the id {node.id!r}")
                nodes[node.id] = node
            elif kind == "edge":
                edge = _edge(record)
                if edge in edges:
                    raise BadRecordError(f"the same edge as on line {edges[edge]}")
                edges[edge] = number
            else:
                raise BadRecordError(f"record: 'node' or 'edge' expected, {kind!r} found")
    faults.check()
    if header is None:
        raise DataError(path, None, "empty")
    if not nodes:
        raise DataError(path, None, "no nodes")
    for edge, number in edges.items():
        for end, name in (("from", edge.source), ("to", edge.target)):
            with faults.of(number):
                if name not in nodes:
                    raise BadRecordError(f"dangling edge: {end} {name!r}, which is no node")
    faults.check()
    check_acyclic(edges, path)
    return Corpus(**header, nodes=nodes, edges=tuple(edges))


def write_corpus(corpus: Corpus, path: Path) -> None:
    """Write a corpus as `parse_corpus` reads it; the same corpus gives the same bytes."""
    lines: list[Mapping[str, str]] = [
        {"record": "corpus", "schema": SCHEMA, **{key: getattr(corpus, key) for key in _HEADER}}
    ]
    for node in corpus.nodes.values():
        fields = {name: getattr(node, name) for name in Node.__slots__}
        lines.append({"record": "node", **{k: v for k, v in fields.items() if v}})
    lines += [
        {"record": "edge", "type": edge.relation, "from": edge.source, "to": edge.target}
        for edge in corpus.edges
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def _record(line: bytes) -> dict[str, Any]:
    """The object of a line."""
    try:
        record = loads(line)
    except json.JSONDecodeError as error:
        raise BadRecordError(f"not JSON: {error.msg}") from None
    if not isinstance(record, dict):
        raise BadRecordError("a JSON object expected")
    return record


def _header(kind: Any, record: dict[str, Any]) -> Mapping[str, str]:
    if kind != "corpus":
        raise BadRecordError(f"the first record must be 'corpus', {kind!r} found")
    if record.pop("schema", None) != SCHEMA:
        raise BadRecordError(f"schema: {SCHEMA!r} expected")
    return _texts(record, required=_HEADER)


def _node(record: dict[str, Any]) -> Node:
    values = _texts(record, ("id", "title", "text", "date"), ("summary", "kind", "status"))
    if not _ID.fullmatch(values["id"]):
        raise BadRecordError(f"id: {values['id']!r} holds white space or '#'")
    try:
        values["date"] = iso_date(values["date"])
    except ValueError:
        raise BadRecordError(f"date: {values['date']!r} is no ISO 8601 date") from None
    return Node(**values)


def _edge(record: dict[str, Any]) -> Edge:
    values = _texts(record, ("type", "from", "to"))
    edge = Edge(source=values["from"], relation=values["type"], target=values["to"])
    if edge.relation not in RELATIONS:
        raise BadRecordError(f"unknown type {edge.relation!r}; known: {', '.join(RELATIONS)}")
    if edge.source == edge.target:
        raise BadRecordError(f"{edge.source!r} {edge.relation} itself")
    return edge


def _texts(
    record: Mapping[str, Any], required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str]:
    """The texts under these keys and no other; a required one may not be blank."""
    unknown = [key for key in record if key not in (*required, *optional)]
    if unknown:
        raise BadRecordError(f"unknown key {unknown[0]!r}")
    for key in required:
        if key not in record:
            raise BadRecordError(f"{key}: missing")
    for key, value in record.items():
        if not isinstance(value, str):
            raise BadRecordError(f"{key}: text expected, {json.dumps(value)[:40]} found")
        if key in required and not value.strip():
            raise BadRecordError(f"{key}: empty")
    return dict(record)


def check_acyclic(edges: Mapping[Edge, int | None], path: Path) -> None:
    """Raise DataError when documents supersede each other in a ring: none of them would hold.

    edges : with their lines, where they stand on lines.
    """
    older: dict[str, list[Edge]] = {}
    for edge in edges:
        if edge.relation == "supersedes":
            older.setdefault(edge.source, []).append(edge)
    done: set[str] = set()
    for start in older:
        ring = _ring_from(start, older, done)
        if ring:
            number = max((n for edge in ring if (n := edges[edge])), default=None)
            names = " supersedes ".join([ring[0].source, *(edge.target for edge in ring)])
            raise DataError(path, number, f"cycle: {names}")


def _ring_from(
    start: str, older: Mapping[str, Iterable[Edge]], done: set[str]
) -> list[Edge] | None:
    """The edges of a ring that is reached from `start`, depth first without recursion."""
    trail: list[Edge] = []
    on_trail = {start}
    stack = [(start, iter(older.get(start, ())))]
    while stack:
        node, following = stack[-1]
        edge = next(following, None)
        if edge is None:
            stack.pop()
            on_trail.discard(node)
            done.add(node)
            if trail:
                trail.pop()
        elif edge.target in on_trail:
            sources = [passed.source for passed in trail] + [edge.source]
            return [*trail[sources.index(edge.target) :], edge]
        elif edge.target not in done:
            trail.append(edge)
            on_trail.add(edge.target)
            stack.append((edge.target, iter(older.get(edge.target, ()))))
    return None
