"""Propose a structured edit for a ticket, in line with the decisions that a view holds.

The plan is public: `TaskCard.material["change_plan"]` is JSON of this form, and the edit gives one
value for each of its settings::

    {"component": "cx-01f4",
     "settings": [{"setting": "retention_period", "label": "retention period", "unit": "days",
                   "options": [], "least": 10, "greatest": 400, "value": "90",
                   "status": "proposed"}]}

`status` is `asked` for a value that the ticket insists on and `proposed` for one that is open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations.answering import AnsweringOperation
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.decisions import Constraint, DecisionLog, read_decisions, words
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.canonical import canonical_json

__all__ = ["Change", "PlannedSetting", "ProposeEdit", "ProposeEditRequest", "ProposeEditResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of an edit: the value of a component's setting, as text."""

    component: str
    setting: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSetting:
    """One setting of the plan: a number between `least` and `greatest`, or one of `options`."""

    setting: str
    label: str
    unit: str
    options: tuple[str, ...]
    least: int
    greatest: int
    value: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeEditRequest:
    """What the edit may rest on: the public task and the text of the view."""

    instruction: str
    ticket: str
    material: Mapping[str, str]
    view: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeEditResponse:
    """The edit, the names of the decisions it follows, why, and how likely it is compliant."""

    edit: tuple[Change, ...]
    decisions: tuple[str, ...] = ()
    rationale: str = ""
    confidence: float | None = None


_RANGE: Final = re.compile(r"(\d+)(?: to (\d+))? ([a-z]+)")


@register("operation", "propose_edit")
class ProposeEdit(
    PromptedOperation[ProposeEditRequest, ProposeEditResponse],
    AnsweringOperation[ProposeEditRequest, ProposeEditResponse],
):
    """Fill in a ticket's change plan under the decisions on record (Depth 5.2, 8).

    The rule-based edit keeps what is asked. For a value that is only proposed it takes the nearest
    constraint on that setting among the records that the component stands under, as far as the
    view states the links; where it states none, of the constraints on that setting that still hold
    the one whose line shares most words with the ticket, the first of equals; where there is none,
    the proposed value, which is the naive edit. Only statements worded as
    `reading.decisions` knows them are read. A `blind` profile knows no label: a constraint then
    concerns the setting that its value fits.
    """

    slots = frozenset({"record", "instruction", "ticket", "material"})
    shared = frozenset({"record"})

    def request_of(self, task: TaskCard, view: str) -> ProposeEditRequest:
        return ProposeEditRequest(
            instruction=task.instruction, ticket=task.query, material=task.material, view=view
        )

    def answer_of(self, response: ProposeEditResponse, task: TaskCard) -> Answer:
        return Answer(
            edit=canonical_json(response.edit),
            provisions=response.decisions,
            rationale=response.rationale,
            confidence=response.confidence,
        )

    def fill(self, request: ProposeEditRequest) -> Mapping[str, str]:
        parts = [f"{name.replace('_', ' ')}:\n{text}" for name, text in request.material.items()]
        return {
            "record": request.view,
            "instruction": request.instruction,
            "ticket": request.ticket,
            "material": "\n\n".join(parts),
        }

    def parse(self, text: str, request: ProposeEditRequest) -> ProposeEditResponse:
        data = self.json_object(text)
        _json.expect_keys(data, tuple(ProposeEditResponse.__dataclass_fields__))
        confidence = _json.number_or_none(data, "confidence")
        if confidence is not None and not 0 <= confidence <= 1:
            raise ValueError(f"confidence {confidence} is not in [0, 1]")
        changes = []
        for entry in _json.objects(data, "edit"):
            _json.expect_keys(entry, ("component", "setting", "value"))
            changes.append(Change(**{key: _json.text(entry, key) for key in entry}))
        return ProposeEditResponse(
            edit=tuple(changes),
            decisions=_json.texts(data, "decisions"),
            rationale=_json.text(data, "rationale"),
            confidence=confidence,
        )

    def offline(self, request: ProposeEditRequest, profile: Profile) -> ProposeEditResponse:
        component, settings = _plan(request.material)
        log = read_decisions(request.view, profile)
        asked = words(request.ticket)
        changes, names, reasons = [], [], []
        for planned in settings:
            value = planned.value
            if planned.status == "proposed":
                found = _governing(log, component, planned, asked, profile)
                if found is not None:
                    constraint, value = found
                    names.append(constraint.name)
                    reasons.append(
                        f"The {planned.label} is {log.value(constraint)} "
                        f"under the {constraint.name}."
                    )
            changes.append(Change(component=component, setting=planned.setting, value=value))
        return ProposeEditResponse(
            edit=tuple(changes),
            decisions=tuple(dict.fromkeys(names)),
            rationale=" ".join(reasons) or "No decision on record governs the plan.",
        )


def _plan(material: Mapping[str, str]) -> tuple[str, list[PlannedSetting]]:
    """Component and settings of the plan. Raises ValueError where it is not of the public form."""
    try:
        plan: Any = json.loads(material["change_plan"])
        settings = [
            PlannedSetting(**{**entry, "options": tuple(entry["options"])})
            for entry in plan["settings"]
        ]
        return str(plan["component"]), settings
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the task's change_plan is not of the public form: {error}") from None


def _governing(
    log: DecisionLog,
    component: str,
    planned: PlannedSetting,
    asked: frozenset[str],
    profile: Profile,
) -> tuple[Constraint, str] | None:
    """The constraint to follow and the value it allows; None where the view settles nothing."""
    by_name: dict[str, list[tuple[Constraint, str]]] = {}
    current: list[tuple[Constraint, str]] = []
    for constraint in log.constraints:
        if profile.style != "blind" and constraint.label != planned.label:
            continue
        value = _fitting(log.value(constraint), planned)
        if value:
            by_name.setdefault(constraint.name, []).append((constraint, value))
            if constraint.name not in log.replaced:
                current.append((constraint, value))
    for name in log.governing(component):
        if name in by_name:
            return by_name[name][0]
    return max(current, key=lambda one: len(log.lines[one[0].place] & asked), default=None)


def _fitting(value: str, planned: PlannedSetting) -> str:
    """What the setting is to be under a value as text; empty where it is none of this setting's.

    Of a range that holds the planned value, that value; else its lower end.
    """
    if planned.options:
        return value if value in planned.options else ""
    match = _RANGE.fullmatch(value)
    if match is None or match[3] != planned.unit:
        return ""
    low, high = int(match[1]), int(match[2] or match[1])
    return planned.value if low <= int(planned.value) <= high else str(low)
