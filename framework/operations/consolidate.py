"""Bring a store of short memories up to date with one document (Mem0: extract, then update)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.registry import register

Action = Literal["ADD", "UPDATE", "DELETE", "NOOP"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateRequest:
    """One document, and the texts of the memories that are most like it."""

    document: str
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of a memory: `number` counts from 1 in the request, 0 for one to add.

    text : of a memory added or updated, empty otherwise.
    """

    action: Action
    number: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateResponse:
    """The changes in order; at most one UPDATE or DELETE of a memory."""

    changes: tuple[Change, ...] = ()


@register("operation", "consolidate")
class Consolidate(PromptedOperation[ConsolidateRequest, ConsolidateResponse]):
    """Extract a document's facts and ADD, UPDATE, DELETE or keep (NOOP) memories accordingly.

    The source asks twice, to extract and to update, and looks for like memories fact by fact; here
    it is one call a document (Chhikara et al., "Mem0", 2025, section 2.1).
    """

    response = ConsolidateResponse
    slots = frozenset({"memories", "document"})

    def fill(self, request: ConsolidateRequest) -> Mapping[str, str]:
        lines = (f"{number}. {text}" for number, text in enumerate(request.memories, 1))
        return {"memories": "\n".join(lines) or "(none)", "document": request.document}

    def schema(self, request: ConsolidateRequest) -> Mapping[str, Any] | None:
        """The files' form, in which only a memory that is there can be changed."""
        schema: Any = super().schema(request)
        forms = schema["properties"]["changes"]["items"].get("anyOf", [])
        for form in forms[1:]:  # the first adds one
            form["properties"]["number"]["maximum"] = len(request.memories)
        if not request.memories:
            del forms[1:]
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: ConsolidateRequest) -> ConsolidateResponse:
        found = super().parse(text, request)
        changes = [replace(change, text=change.text.strip()) for change in found.changes]
        for change in changes:
            _check(change, len(request.memories))
        # The last change of a memory is what becomes of it; what is said twice is said once.
        last = {c.number: c for c in changes if c.action in ("UPDATE", "DELETE")}
        kept = (c for c in changes if c.action in ("ADD", "NOOP") or c == last[c.number])
        return ConsolidateResponse(changes=tuple(dict.fromkeys(kept)))


def _check(change: Change, memories: int) -> None:
    adds = change.action == "ADD"
    _json.check_number(change.number, 0 if adds else 1, 0 if adds else memories)
    if (change.action in ("ADD", "UPDATE")) != bool(change.text):
        raise ValueError(f"text: {'not wanted' if change.text else 'missing'} for {change.action}")
