"""How a typed store is kept: sentences filed by their words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.synthesize_schema import (
    SLOTS,
    SynthesizeSchemaRequest,
    SynthesizeSchemaResponse,
)
from framework.records import FactField
from framework.registry import register
from framework.text.tokens import count_tokens
from plugins.models.rule_based.dated import Statement, statements
from plugins.models.rule_based.memory.filling import tokens_of
from plugins.models.rule_based.memory.lexical import Line, lines_of, names_of, words_of
from plugins.models.rule_based.noise import is_missed

_SCAFFOLD_TOKENS: Final = count_tokens(json.dumps({"facts": {}, **{s: [] for s in SLOTS[1:]}}))


@register("rule", "synthesize_schema")
class SynthesizeSchemaRule(Rule[SynthesizeSchemaRequest, SynthesizeSchemaResponse]):
    """Files sentences by their words (`memory.lexical.lines_of`), resolves no conflicts.

    `facts` holds for each field the latest sentence with a value that has all words of its
    label or of an alias, by date, then by arrival; `pending` the others on a field so filed,
    which say more, the same or otherwise; `reasoning` what is worded as a policy is; `context`
    all else. A sentence is kept verbatim, less the label where a form line opens with it, and
    dated where a correction matters. On overflow facts come first, then reasoning, pending,
    context, in each the most signals per token. The store's own keys and punctuation count
    against the limit. A noisy profile makes it miss sentences, drawn apart from those that the
    reader misses; the rest of the profile does not bear on it.
    """

    def answer(
        self, request: SynthesizeSchemaRequest, profile: Profile
    ) -> SynthesizeSchemaResponse:
        new = [s for chunk in request.chunks for s in statements(chunk)]
        heard = [s for s in new if not is_missed(f"{self.name}: {s.text}", profile)]
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
