"""Bring a store of short memories up to date with one document (Mem0: extract, then update)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._lexical import corrects, words_of
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.noise import mishap
from framework.operations.reading.text import Statement, statements
from framework.registry import register

__all__ = ["Change", "Consolidate", "ConsolidateRequest", "ConsolidateResponse"]

Action = Literal["ADD", "UPDATE", "DELETE", "NOOP"]
_ACTIONS: Final = get_args(Action)
_ALIKE: Final = 0.3
"""Share of common words from which a correction is held to be of a memory."""
_ENDS: Final = re.compile(
    r"\b(?:withdrawn|rescinded|revoked|cancell?ed|retracted|void(?:ed)?|no longer)\b", re.IGNORECASE
)
_REPLACES: Final = re.compile(r"\b(?:instead|replaced by|is now|not)\b|:", re.IGNORECASE)


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
    it is one call a document (Chhikara et al., "Mem0", 2025, section 2.1). The rule-based answer
    takes every sentence for a fact, by its words alone: one whose words a memory has all of is no
    news; one worded as a correction replaces the memory it shares most words with, or deletes it
    where it withdraws and states nothing in its place; any other is added.
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

    def offline(self, request: ConsolidateRequest, profile: Profile) -> ConsolidateResponse:
        told = [
            statement
            for statement in statements(request.document)
            if words_of(statement.text)
            and mishap(f"{self.name}: {statement.text}", profile) != "miss"
        ]
        return ConsolidateResponse(changes=tuple(_changes(told, request.memories)))


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


def _changes(told: Sequence[Statement], memories: Sequence[str]) -> Iterator[Change]:
    known = [frozenset(words_of(memory)) for memory in memories]
    said: set[frozenset[str]] = set()
    changed: set[int] = set()
    for statement in told:
        words = frozenset(words_of(statement.text))
        same = next((i for i, memory in enumerate(known) if words <= memory), None)
        if same is not None:
            yield Change(action="NOOP", number=same + 1)
            continue
        if words in said:
            continue
        said.add(words)
        corrected = None
        if corrects(statement.text):
            alike = [
                (len(words & memory) / len(words | memory), -i)
                for i, memory in enumerate(known)
                if i not in changed
            ]
            share, place = max(alike, default=(0.0, 0))
            corrected = -place if share >= _ALIKE else None
        text = statement.text
        if statement.date and corrects(text):
            text = f"{statement.date}: {text}"
        if corrected is None:
            yield Change(action="ADD", text=text)
            continue
        changed.add(corrected)
        if _ENDS.search(text) and not _REPLACES.search(statement.text):
            yield Change(action="DELETE", number=corrected + 1)
        else:
            yield Change(action="UPDATE", number=corrected + 1, text=text)
