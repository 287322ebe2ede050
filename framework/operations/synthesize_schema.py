"""Fold new documents into one typed JSON store under a token limit (LongHorizon 5, SAM)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._card import documents_text, fields_text
from framework.operations.prompted import PromptedOperation
from framework.operations.reading import Reading, Understood, make_out, understand
from framework.operations.reading.salience import Salience, salience_of, tokens_of, written
from framework.operations.reading.text import Statement, statements
from framework.records import EMPTY, FactField, TaskCard
from framework.registry import register
from framework.tokens import count_tokens

__all__ = ["SLOTS", "SynthesizeSchema", "SynthesizeSchemaRequest", "SynthesizeSchemaResponse"]

SLOTS: Final = ("facts", "reasoning", "pending", "context")
"""The slots of the store: `facts` maps labels to values, the others are lists of texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesizeSchemaResponse:
    """The store: what is known of each field, rules and inferences, what is open, all else."""

    facts: Mapping[str, str] = EMPTY
    reasoning: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    context: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The store as JSON, one entry a line: what a view holds and what the limit counts.

        Empty for a store that holds nothing.
        """
        if not any(getattr(self, slot) for slot in SLOTS):
            return ""
        store = {slot: getattr(self, slot) for slot in SLOTS}
        store["facts"] = dict(self.facts)
        return json.dumps(store, ensure_ascii=False, indent=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesizeSchemaRequest:
    """The store so far, the documents to fold in, in order, the fields, the limit in tokens."""

    store: SynthesizeSchemaResponse
    chunks: tuple[str, ...]
    fields: tuple[FactField, ...]
    limit_tokens: int


_SCAFFOLD_TOKENS: Final = count_tokens(json.dumps({"facts": {}, **{s: [] for s in SLOTS[1:]}}))


@register("operation", "synthesize_schema")
class SynthesizeSchema(PromptedOperation[SynthesizeSchemaRequest, SynthesizeSchemaResponse]):
    """Synthesise a typed JSON store of facts, reasoning, pending and context.

    The rule-based answer resolves the fields that it knows by label, sorts the other sentences into
    slots by general salience, and on overflow keeps facts first, then reasoning, pending, context.
    The store's own keys and punctuation count against the limit.
    """

    slots = frozenset({"fields", "store", "documents", "limit"})

    def fill(self, request: SynthesizeSchemaRequest) -> Mapping[str, str]:
        return {
            "fields": fields_text(request.fields),
            "store": request.store.text,
            "documents": documents_text(request.chunks),
            "limit": str(request.limit_tokens),
        }

    def schema(self, request: SynthesizeSchemaRequest) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        labels = [field.label for field in request.fields]
        schema["properties"]["facts"].update(_json.nullable_texts(labels))
        return dict(schema)

    def parse(self, text: str, request: SynthesizeSchemaRequest) -> SynthesizeSchemaResponse:
        data = self.json_object(text)
        _json.expect_keys(data, SLOTS)
        return SynthesizeSchemaResponse(
            facts=_json.text_map(data, "facts"),
            reasoning=_json.texts(data, "reasoning"),
            pending=_json.texts(data, "pending"),
            context=_json.texts(data, "context"),
        )

    def offline(
        self, request: SynthesizeSchemaRequest, profile: Profile
    ) -> SynthesizeSchemaResponse:
        card = TaskCard(instruction="", query="", fields=request.fields)
        found = [*_told(request.store), *(s for c in request.chunks for s in statements(c))]
        understood = understand(found, card, profile)
        reading = make_out(understood, card, profile)
        facts, conflicts = _facts(request.fields, reading)
        slots: dict[str, dict[str, int]] = {"reasoning": {}, "pending": conflicts, "context": {}}
        for one in understood:
            slot = _slot(one)
            if slot:
                slots[slot].setdefault(written(one.statement), -salience_of(one.statement.text))
        return _fit(facts, slots, request.limit_tokens)


def _told(store: SynthesizeSchemaResponse) -> list[Statement]:
    """The store's entries as statements."""
    lines = [f"{label}: {value}" for label, value in store.facts.items()]
    return statements("\n".join([*lines, *store.reasoning, *store.pending, *store.context]))


def _facts(fields: Iterable[FactField], reading: Reading) -> tuple[dict[str, str], dict[str, int]]:
    """Label to value, with the date where it is a correction's; further figures in conflict."""
    facts: dict[str, str] = {}
    conflicts: dict[str, int] = {}
    for field in fields:
        figures = reading.facts.stated(field.key)
        known = reading.facts.known.get(field.key)
        if not figures or known is None:
            continue
        corrected = f" (correction dated {known.date})" if known.corrected and known.date else ""
        facts[field.label] = figures[0].text + corrected
        for figure in figures[1:]:
            conflicts[f"The {field.label} is also stated as {figure.text}{corrected}."] = 0
    return facts, conflicts


def _slot(one: Understood) -> str:
    """Where a sentence goes, empty for one that is dropped or that `facts` covers."""
    if any(not claim.key.startswith("~") for claim in one.says.claims):
        return ""
    salience = salience_of(one.statement.text)
    if salience == Salience.RULE:
        return "reasoning"
    return "context" if salience > Salience.FILLER and not one.says.injected else ""


def _fit(
    facts: Mapping[str, str], slots: Mapping[str, Mapping[str, int]], limit: int
) -> SynthesizeSchemaResponse:
    """The store within the limit: entries in order of slot and salience, as many as fit."""
    left = limit - _SCAFFOLD_TOKENS
    kept_facts: dict[str, str] = {}
    for label, value in facts.items():
        tokens = _entry_tokens(label) + _entry_tokens(value)  # a colon is a token as a comma is
        if tokens <= left:
            left -= tokens
            kept_facts[label] = value
    kept: dict[str, tuple[str, ...]] = {}
    for slot, entries in slots.items():
        chosen = set()
        for entry in sorted(entries, key=lambda text: (entries[text], tokens_of(text))):
            tokens = _entry_tokens(entry)
            if tokens <= left:
                left -= tokens
                chosen.add(entry)
        kept[slot] = tuple(entry for entry in entries if entry in chosen)
    return SynthesizeSchemaResponse(facts=kept_facts, **kept)


@lru_cache(maxsize=1 << 16)
def _entry_tokens(text: str) -> int:
    """Tokens of a JSON text and the comma after it."""
    return count_tokens(json.dumps(text, ensure_ascii=False)) + 1
