"""Typed questions to a model, one file each: an LLM renders and parses, rules compute offline."""

from __future__ import annotations

from framework.operations import (
    answer_from_sessions,
    answer_question,
    audit,
    author_candidate,
    check_completeness,
    consolidate,
    decide,
    entail,
    equivalent,
    extract_edges,
    extract_facts,
    hypothetical_document,
    next_query,
    project,
    propose_edit,
    rerank,
    summarize,
    synthesize_schema,
    take_note,
    write_sql,
)

__all__ = [
    "answer_from_sessions",
    "answer_question",
    "audit",
    "author_candidate",
    "check_completeness",
    "consolidate",
    "decide",
    "entail",
    "equivalent",
    "extract_edges",
    "extract_facts",
    "hypothetical_document",
    "next_query",
    "project",
    "propose_edit",
    "rerank",
    "summarize",
    "synthesize_schema",
    "take_note",
    "write_sql",
]
