"""Policies, tasks and records of the bank, from tau2-bench's JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.domains.bank_support.actions import Action, expected
from plugins.domains.bank_support.customer import Tables, changed, records_of
from plugins.domains.data_file import (
    BadRecordError,
    kind_of,
    list_in,
    read_questions,
    text_in,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One policy as published."""

    id: str
    title: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. `scenario`: who the customer is and what they want. `records`: what is on file."""

    id: str
    scenario: str
    required: tuple[str, ...]
    actions: tuple[Action, ...]
    basis: str
    records: str


def documents_of(path: str, records: Sequence[Any]) -> dict[str, Document]:
    """Policies by id, in order. Raises DataError."""
    return read_questions(path, records, "id", _document, "document")


def tasks_of(
    path: str, records: Sequence[Any], documents: Mapping[str, Document], tables: Tables
) -> list[Task]:
    """Tasks in order, each of which requires documents that are there. Raises DataError.

    tables : the bank's records before any task; empty where none are given.
    """

    def read(record: Mapping[str, Any]) -> Task:
        return _task(record, documents, tables)

    return list(read_questions(path, records, "id", read, "task").values())


def _document(record: Mapping[str, Any]) -> Document:
    return Document(
        id=text_in(record, "id"),
        title=text_in(record, "title"),
        content=text_in(record, "content"),
    )


def _task(record: Mapping[str, Any], documents: Mapping[str, Document], tables: Tables) -> Task:
    required = list_in(record, "required_documents", "a list of document ids")
    for name in required:
        if not isinstance(name, str):
            raise BadRecordError(f"required_documents: ids expected, {kind_of(name)} found")
        if name not in documents:
            raise BadRecordError(f"required document {name!r} is not among the documents")
    if not required:
        raise BadRecordError("required_documents: at least one expected, none found")
    scenario = _object_in(record, "user_scenario")
    criteria = _object_in(record, "evaluation_criteria")
    actions = list_in(criteria, "actions", "a list of actions")
    basis = criteria.get("reward_basis") or []
    if not isinstance(basis, list) or not all(isinstance(name, str) for name in basis):
        raise BadRecordError("reward_basis: a list of texts expected")
    state = record.get("initial_state") or {}
    if not isinstance(state, dict):
        raise BadRecordError(f"initial_state: a JSON object expected, {kind_of(state)} found")
    told = text_in(scenario, "instructions")
    on_file = changed(tables, state)
    return Task(
        id=text_in(record, "id"),
        scenario=told,
        required=tuple(dict.fromkeys(required)),
        actions=expected(actions),
        basis="+".join(basis) or "none",
        records=records_of(on_file, told) if tables else "",
    )


def _object_in(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = record.get(key)
    if not isinstance(value, dict):
        raise BadRecordError(f"{key}: a JSON object expected, {kind_of(value)} found")
    return value
