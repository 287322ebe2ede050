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
from framework.operations._filling import tokens_of
from framework.operations._lexical import Line, lines_of, names_of, words_of
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.noise import mishap
from framework.operations.reading.text import Statement, statements
from framework.records import EMPTY, FactField
from framework.registry import register
from framework.text.tokens import count_tokens

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

    The rule-based answer is lexical: it files sentences by their words (`_lexical.lines_of`) and
    resolves none of them. `facts` holds for each field the latest sentence with a value that has
    all words of its label or of an alias, by date, then by arrival; `pending` the others on a field
    so filed, which say more, the same or otherwise; `reasoning` what is worded as a policy is;
    `context` all else. A sentence is kept verbatim, less the label where a form line opens with it,
    and dated where a correction matters. On overflow facts come first, then reasoning, pending,
    context, in each the most signals per token. The store's own keys and punctuation count against
    the limit. A noisy profile makes it miss sentences, drawn apart from those that the reader
    misses; the rest of the profile does not bear on it.
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
        new = [s for chunk in request.chunks for s in statements(chunk)]
        heard = [s for s in new if mishap(f"{self.name}: {s.text}", profile) != "miss"]
        lines = lines_of([*_told(request.store, request.fields), *heard], request.fields)
        facts = _facts(request.fields, lines)
        slots: dict[str, dict[str, float]] = {"reasoning": {}, "pending": {}, "context": {}}
        filed = {id(line) for line in facts.values()}
        for line in lines:
            if id(line) not in filed:
                slots[_slot(line)][line.text] = -line.density
        entries = {field.label: _entry(line, field) for field, line in facts.items()}
        return _fit(entries, slots, request.limit_tokens)


def _told(store: SynthesizeSchemaResponse, fields: Iterable[FactField]) -> list[Statement]:
    """The store's entries as statements, the latest of a field after the others on it."""
    told = statements("\n".join([*store.reasoning, *store.pending, *store.context]))
    by_label = {field.label: field for field in fields}
    for label, text in store.facts.items():
        for entry in statements(text):
            words = set(words_of(entry.text))
            named = label in by_label and any(name <= words for name in names_of(by_label[label]))
            told.append(entry if named else Statement(f"{label}: {entry.text}", entry.date))
    return told


def _facts(fields: Iterable[FactField], lines: Iterable[Line]) -> dict[FactField, Line]:
    """The latest line on each field; a line is filed under one field, that of the longest name."""
    by_key = {field.key: field for field in fields}
    latest: dict[str, Line] = {}
    for line in lines:
        if _slot(line) != "pending":
            continue
        words = set(words_of(line.statement.text))
        key = max(
            (key for key in by_key if key in line.topics),
            key=lambda key: max(len(name) for name in names_of(by_key[key]) if name <= words),
        )
        if key not in latest or line.statement.date >= latest[key].statement.date:
            latest[key] = line
    return {field: latest[key] for key, field in by_key.items() if key in latest}


def _slot(line: Line) -> str:
    """Where a line goes that is not the latest on a field."""
    if line.is_normative:
        return "reasoning"
    is_figure = line.has_value or ":" in line.statement.text
    return "pending" if line.topics and is_figure else "context"


def _entry(line: Line, field: FactField) -> str:
    """A line under its label, which a form line need not repeat."""
    sentence = line.statement.text
    head, colon, tail = sentence.partition(": ")
    if not colon or frozenset(words_of(head)) not in names_of(field):
        return line.text
    return line.text.removesuffix(sentence) + tail


def _fit(
    facts: Mapping[str, str], slots: Mapping[str, Mapping[str, float]], limit: int
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
