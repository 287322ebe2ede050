"""Propose a structured edit for a ticket, in line with the decisions that a view holds.

The plan is public: `TaskCard.material["change_plan"]` is JSON of this form, and the edit gives one
value for each of its settings::

    {"component": "cx-01f4",
     "settings": [{"setting": "retention_period", "label": "retention period", "unit": "days",
                   "options": [], "least": 10, "greatest": 400, "value": "90",
                   "status": "proposed"}]}

`status` is `asked` for a value that the ticket insists on and `proposed` for one that is open. The
ticket is `TaskCard.material["ticket"]`, or the query where a memory is asked with the ticket.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.operations import _json
from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.canonical import canonical_json
from framework.text.reading import read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of an edit: the value of a component's setting, as text."""

    component: str
    setting: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeEditResponse:
    """The edit, the names of the decisions it follows, why, and how likely it is compliant."""

    edit: tuple[Change, ...]
    decisions: tuple[str, ...] = ()
    rationale: str = ""
    confidence: float | None = None


@register("operation", "propose_edit")
class ProposeEdit(PromptedAnswering[ProposeEditResponse]):
    """Fill in a ticket's change plan as the recorded decisions require (Depth 5.2, 8)."""

    response = ProposeEditResponse
    slots = frozenset({"record", "instruction", "ticket", "material"})
    shared = frozenset({"record"})

    def answer_of(self, response: ProposeEditResponse, task: TaskCard) -> Answer:
        return Answer(
            edit=canonical_json(response.edit),
            provisions=response.decisions,
            rationale=response.rationale,
            confidence=response.confidence,
        )

    def fill(self, request: AnswerRequest) -> Mapping[str, str]:
        material = dict(request.task.material)
        ticket = material.pop("ticket", request.task.query)
        parts = [f"{name.replace('_', ' ')}:\n{text}" for name, text in material.items()]
        return {
            "record": request.view,
            "instruction": request.task.instruction,
            "ticket": ticket,
            "material": "\n\n".join(parts),
        }

    def schema(self, request: AnswerRequest) -> Mapping[str, Any] | None:
        """The files' form, held to the plan's component and settings and to its longest value.

        A weak model runs on where a form lets it; what the plan says is public.
        """
        schema: Any = super().schema(request)
        plan = read_json(request.task.material.get("change_plan", "{}"))
        if settings := plan.get("settings"):
            edit = schema["properties"]["edit"]
            edit["minItems"] = edit["maxItems"] = len(settings)
            entry = edit["items"]["properties"]
            entry["component"] = {"type": "string", "enum": [plan["component"]]}
            names = list(dict.fromkeys(planned["setting"] for planned in settings))
            entry["setting"] = {"type": "string", "enum": names}
            entry["value"] = {"type": "string", "maxLength": max(map(_longest, settings))}
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: AnswerRequest) -> ProposeEditResponse:
        found = super().parse(text, request)
        _json.check_probability(found.confidence)
        return found


def _longest(planned: Mapping[str, Any]) -> int:
    """Characters of the longest value that a setting of the plan may have."""
    return max(len(str(v)) for v in (planned["value"], planned["greatest"], *planned["options"]))
