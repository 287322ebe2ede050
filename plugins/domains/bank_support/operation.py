"""Say what is to be done for a customer, as typed actions, from policies and the bank's records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from framework.contracts import Profile, Rule
from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.canonical import canonical_json
from framework.text.reading import read_json
from plugins.domains.bank_support.actions import Action, written

CUSTOMER: Final = "customer"
TOOLS: Final = "tools"
"""Keys of `TaskCard.material`: the bank's records of the customer, and the tools always at hand."""

_TOOL: Final = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)*_\d{4}\b")
"""How documents name a tool: words and a number of four digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanActionsResponse:
    """The actions in order; none where nothing is to be done."""

    actions: tuple[Action, ...]


@register("operation", "plan_actions")
class PlanActions(PromptedAnswering[PlanActionsResponse]):
    """Say which tools to call for a customer, in what order and with which arguments."""

    prompts: ClassVar[Path] = Path(__file__).parent / "prompts"
    response = PlanActionsResponse
    slots = frozenset({"instruction", "record", "customer", "tools", "request"})

    def answer_of(self, response: PlanActionsResponse, task: TaskCard) -> Answer:
        return Answer(text=written(response.actions))

    def fill(self, request: AnswerRequest) -> Mapping[str, str]:
        task = request.task
        return {
            "instruction": task.instruction,
            "record": request.view,
            "customer": task.material.get(CUSTOMER, "none given"),
            "tools": task.material.get(TOOLS, "none given"),
            "request": task.query,
        }

    def parse(self, text: str, request: AnswerRequest) -> PlanActionsResponse:
        data = self.json_object(text)
        if set(data) != {"actions"} or not isinstance(data["actions"], list):
            raise ValueError("an object with the list 'actions' expected")
        return PlanActionsResponse(actions=tuple(_read(one) for one in data["actions"]))

    def render(self, response: PlanActionsResponse) -> str:
        told = [
            {"name": one.name, "arguments": canonical_json(one.arguments)}
            for one in response.actions
        ]
        return canonical_json({"actions": told})


def _read(one: object) -> Action:
    """One action of a response. Raises ValueError."""
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        raise ValueError("each action: an object with a text 'name' and 'arguments' expected")
    arguments = one.get("arguments")
    if isinstance(arguments, str):
        arguments = read_json(arguments) if arguments.strip() else {}
    if not isinstance(arguments, dict):
        raise ValueError("arguments of an action: a JSON object expected")
    canonical_json(arguments)  # raises ValueError for a number that is none, such as NaN
    return Action(name=one["name"], arguments=arguments)


@register("rule", "plan_actions")
class PlanActionsRule(Rule[AnswerRequest, PlanActionsResponse]):
    """Every tool that the view names, once, in order of the view, without arguments.

    No plan: it shows what naming alone earns, which is nothing of what is to be done.
    """

    def answer(self, request: AnswerRequest, profile: Profile) -> PlanActionsResponse:
        names = dict.fromkeys(_TOOL.findall(request.view))
        return PlanActionsResponse(actions=tuple(Action(name=name, arguments={}) for name in names))
