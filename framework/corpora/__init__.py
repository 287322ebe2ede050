"""Corpora of documents with typed edges: one schema, and converters of published ones."""

from __future__ import annotations

from framework.corpora.schema import (
    RELATIONS,
    SCHEMA,
    Corpus,
    Edge,
    Node,
    parse_corpus,
    read_corpus,
    write_corpus,
)

__all__ = [
    "RELATIONS",
    "SCHEMA",
    "Corpus",
    "Edge",
    "Node",
    "parse_corpus",
    "read_corpus",
    "write_corpus",
]
