"""The rule-based model dispatches, and says what it is."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from framework.contracts import Operation, Profile, Prompt, Rule
from framework.engine.compose import compose_plan, composer
from framework.errors import StopRun, UserError
from framework.registry import find, register, settings_of
from plugins.models.rule_based.model import RuleBased, RuleBasedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoed:
    request: str
    style: str


class Echo(Operation[str, Echoed]):
    """An operation that no model has heard of."""

    name = "echoed"

    def prompt(self, request: str) -> Prompt:
        raise AssertionError("the rule-based model renders no prompt")

    def parse(self, text: str, request: str) -> Echoed:
        raise AssertionError("the rule-based model parses nothing")


@register("rule", "echoed")
class EchoRule(Rule[str, Echoed]):
    """What it was asked, and how the model reads."""

    def answer(self, request: str, profile: Profile) -> Echoed:
        return Echoed(request=request, style=profile.style)


def test_dispatches_to_any_operation() -> None:
    model = RuleBased(RuleBasedSettings(style="blind"))
    reply = asyncio.run(model.run(Echo(), "hello", 0))
    assert reply.response == Echoed(request="hello", style="blind")
    assert reply.text == '{"request":"hello","style":"blind"}'


def test_an_operation_without_a_rule_ends_the_run_in_one_line() -> None:
    class Unruled(Echo):
        name = "unruled"

    model = RuleBased(RuleBasedSettings())
    with pytest.raises(StopRun, match="operation 'unruled' has no rule to answer it") as stopped:
        asyncio.run(model.run(Unruled(), "hello", 0))
    assert "\n" not in str(stopped.value)


def test_is_marked_as_rule_based() -> None:
    assert RuleBased.kind == "rule-based"


def test_former_names_of_the_model_and_its_settings_are_read() -> None:
    plugin = find("model", "extractive")
    assert plugin.name == "rule_based"
    assert settings_of(plugin, {"gullible": True}) == RuleBasedSettings(follows_injections=True)
    with composer():
        plan = compose_plan(["model=extractive", "model.gullible=true"])
        same = compose_plan(["model=rule_based", "model.follows_injections=true"])
    assert plan.rows_digest == same.rows_digest
    assert plan.option("model") == "rule_based"


@pytest.mark.parametrize(
    "values",
    [
        {"style": "clever"},
        {"style": "noisy", "miss_rate": 1.1},
        {"style": "noisy", "miss_rate": -0.1},
        {"style": "noisy", "miss_rate": 0.6, "confuse_rate": 0.6},
        {"miss_rate": 0.1},
        {"style": "blind", "confuse_rate": 0.1},
    ],
)
def test_settings_that_make_no_sense_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        settings_of(find("model", "rule_based"), values)
