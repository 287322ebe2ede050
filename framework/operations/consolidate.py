"""Bring a store of short memories up to date with one document (Mem0: extract, then update)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from framework.operations import _json
from framework.operations.prompted import PromptedOperation
from framework.registry import register

Action = Literal["ADD", "UPDATE", "DELETE", "NOOP"]
_ACTIONS: Final = get_args(Action)


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
    """Extract what a document says and ADD, UPDATE, DELETE or leave (NOOP) memories by it.

    The source asks twice, to extract and to update, and looks for like memories fact by fact; here
    it is one call a document (Chhikara et al., "Mem0", 2025, section 2.1).
    """

    slots = frozenset({"memories", "document"})

    def fill(self, request: ConsolidateRequest) -> Mapping[str, str]:
        lines = (f"{number}. {text}" for number, text in enumerate(request.memories, 1))
        return {"memories": "\n".join(lines) or "(none)", "document": request.document}

    def parse(self, text: str, request: ConsolidateRequest) -> ConsolidateResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("changes",))
        changes = []
        for entry in _json.objects(data, "changes"):
            _json.expect_keys(entry, ("action", "number", "text"))
            changes.append(_checked(entry, len(request.memories)))
        touched = [c.number for c in changes if c.action in ("UPDATE", "DELETE")]
        if len(set(touched)) < len(touched):
            raise ValueError(f"two changes of one memory: {sorted(touched)}")
        return ConsolidateResponse(changes=tuple(changes))


def _checked(entry: Mapping[str, object], memories: int) -> Change:
    action, number, text = entry["action"], entry["number"], _json.text(entry, "text").strip()
    if action not in _ACTIONS:
        raise ValueError(f"action: {action!r} is none of {', '.join(_ACTIONS)}")
    least, most = (0, 0) if action == "ADD" else (1, memories)
    if not _json.whole_within(number, least, most):
        raise ValueError(f"number: {least} to {most} expected for {action}, got {number!r}")
    if (action in ("ADD", "UPDATE")) != bool(text):
        raise ValueError(f"text: {'missing' if not text else 'not wanted'} for {action}")
    return Change(action=action, number=number, text=text)  # type: ignore[arg-type]
