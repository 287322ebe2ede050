"""Every answer that a schema asks for has an end: texts, lists and numbers are bounded."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import plugins
from framework.models.llm import most_tokens
from framework.models.sdk import unbounded
from framework.operations.answering import AnswerRequest
from framework.operations.decide import Decide
from framework.operations.project import Project, ProjectRequest
from framework.operations.prompted import SHIPPED
from framework.operations.summarize import Summarize, SummarizeRequest
from framework.operations.synthesize_schema import (
    SynthesizeSchema,
    SynthesizeSchemaRequest,
    SynthesizeSchemaResponse,
)
from framework.records import FactField, TaskCard
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.settings import RegulatedSettings
from plugins.models.rule_based.model import RuleBased, RuleBasedSettings
from tests.plugins.domains.regulated.support import SPECS

PLUGINS = Path(plugins.__file__).parent
FILES = sorted([*SHIPPED.glob("**/schema.json"), *PLUGINS.glob("**/prompts/**/schema.json")])
FIELD = FactField(key="income", label="income", type="money")
CARD = TaskCard(operation="decide", query="", instruction="", decisions=("A",), fields=(FIELD,))
FILLED_IN = [
    Decide().schema(AnswerRequest(task=CARD, view="")),
    Project().schema(ProjectRequest(task=CARD, events=(), limit_tokens=335)),
    Summarize().schema(SummarizeRequest(summary="", chunks=(), limit_tokens=335)),
    SynthesizeSchema().schema(
        SynthesizeSchemaRequest(
            fields=(FIELD,), store=SynthesizeSchemaResponse(), chunks=(), limit_tokens=335
        )
    ),
]


def unbounded_parts(schema: Any, place: str = "") -> Iterator[str]:
    """The places of a schema where an answer may go on for ever."""
    kinds = schema.get("type", "object")
    for number, form in enumerate(schema.get("anyOf", ())):
        yield from unbounded_parts(form, f"{place}|{number}")
    if "enum" in schema:
        return
    if "string" in kinds and "maxLength" not in schema:
        yield f"{place}: maxLength"
    if "array" in kinds:
        if "maxItems" not in schema:
            yield f"{place}: maxItems"
        yield from unbounded_parts(schema["items"], f"{place}[]")
    if ("number" in kinds or "integer" in kinds) and not {"minimum", "maximum"} <= schema.keys():
        yield f"{place}: minimum, maximum"
    if "number" in kinds and "multipleOf" not in schema:
        yield f"{place}: multipleOf, for its digits"
    for name, entry in schema.get("properties", {}).items():
        yield from unbounded_parts(entry, f"{place}.{name}")


@pytest.mark.parametrize("file", FILES, ids=lambda f: "/".join(f.parts[-3:-1]))
def test_every_shipped_schema_is_bounded(file: Path) -> None:
    schema = json.loads(file.read_text(encoding="utf-8"))
    assert list(unbounded_parts(schema)) == []


@pytest.mark.parametrize("schema", FILLED_IN, ids=["decide", "project", "summarize", "synthesize"])
def test_what_a_request_fills_in_is_bounded(schema: Mapping[str, Any]) -> None:
    assert list(unbounded_parts(schema)) == []
    assert most_tokens(schema) < 30_000


def test_a_figure_is_held_shorter_than_a_text() -> None:
    name = FactField(key="name", label="name", type="text")
    card = replace(CARD, fields=(FIELD, name))
    schema: Any = Decide().schema(AnswerRequest(task=card, view=""))
    facts = schema["properties"]["facts"]["properties"]
    assert facts["income"]["maxLength"] < facts["name"]["maxLength"]


def test_the_room_of_an_answer_is_that_of_its_form() -> None:
    met = {"type": "object", "properties": {"met": {"type": "boolean"}}}
    why = {"type": "object", "properties": {"why": {"type": "string", "maxLength": 600}}}
    assert most_tokens(met) < 100
    assert 600 < most_tokens(why) < 700
    assert most_tokens({"type": "object", "properties": {"why": {"type": "string"}}}) > 10**5
    assert most_tokens({"anyOf": [met, why]}) == most_tokens(why)


@pytest.mark.parametrize("spec", SPECS)
def test_the_whole_answer_of_the_rule_based_model_fits_its_form(spec: str) -> None:
    domain, model = Regulated(RegulatedSettings(spec=spec)), RuleBased(RuleBasedSettings())
    operation, notices = Decide(), []
    for case in domain.cases(20, 7):
        view = "\n".join(event.text for event in domain.history(case.history_id))
        request = AnswerRequest(task=case.task, view=view)
        reply = asyncio.run(model.run(operation, request, 0))
        answer = json.loads(operation.render(reply.response))
        notices.append(len(answer["notice"]))
        assert list(_too_long(operation.schema(request), answer)) == [], case.id
    assert max(notices) > 900  # there are denials among them, with a whole notice


def _too_long(schema: Any, value: Any, place: str = "answer") -> Iterator[str]:
    """Where a value is longer than its form allows."""
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        yield f"{place}: {len(value)} characters"
    if isinstance(value, list):
        if len(value) > schema["maxItems"]:
            yield f"{place}: {len(value)} items"
        for inner in value:
            yield from _too_long(schema["items"], inner, place)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _too_long(schema["properties"][key], inner, f"{place}.{key}")


def test_bounds_that_a_server_refuses_are_left_out_and_nothing_else() -> None:
    schema = {
        "type": "object",
        "properties": {
            "maxLength": {"type": "string", "maxLength": 5000},
            "short": {"type": "string", "maxLength": 20},
            "many": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 9}},
        },
    }
    assert unbounded(schema, ("maxLength",))["properties"] == {
        "maxLength": {"type": "string"},
        "short": {"type": "string"},
        "many": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
    }
    assert math.isfinite(most_tokens(schema))
