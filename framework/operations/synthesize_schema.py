"""Fold new documents into one typed JSON store under a token limit (LongHorizon 5, SAM)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.operations import _json
from framework.operations._card import documents_text, fields_text
from framework.operations.prompted import PromptedOperation
from framework.records import EMPTY, FactField
from framework.registry import register

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


@register("operation", "synthesize_schema")
class SynthesizeSchema(PromptedOperation[SynthesizeSchemaRequest, SynthesizeSchemaResponse]):
    """Write a typed JSON store of facts, reasoning, pending and context."""

    response = SynthesizeSchemaResponse
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
        fields = {field.label: field for field in request.fields}
        schema["properties"]["facts"].update(_json.nullable_texts(fields))
        return dict(schema)
