"""How a change plan is filled in: by the nearest constraint on record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.contracts import Profile, Rule
from framework.operations.answering import AnswerRequest
from framework.operations.propose_edit import (
    Change,
    ProposeEditResponse,
)
from framework.registry import register
from framework.text.reading import read_json
from plugins.models.rule_based.reading.decisions import (
    Constraint,
    DecisionLog,
    read_decisions,
    words,
)

_RANGE: Final = re.compile(r"(\d+)(?: to (\d+))? ([a-z]+)")


@register("rule", "propose_edit")
class ProposeEditRule(Rule[AnswerRequest, ProposeEditResponse]):
    """Makes the requested changes; a proposed value follows the constraint that governs it.

    That is the nearest constraint on the setting among the records that the component stands
    under, as far as the view states the links; where it states none, of the constraints on that
    setting that still hold the one whose line shares most words with the ticket, the first of
    equals; where there is none, the proposed value, which is the naive edit. Only statements
    worded as `reading.decisions` knows them are read. A `blind` profile knows no label: a
    constraint then concerns the setting that its value fits.
    """

    def answer(self, request: AnswerRequest, profile: Profile) -> ProposeEditResponse:
        component, settings = _plan(request.task.material)
        log = read_decisions(request.view, profile)
        asked = words(request.task.material.get("ticket", request.task.query))
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


def _plan(material: Mapping[str, str]) -> tuple[str, list[PlannedSetting]]:
    """Component and settings of the plan. Raises ValueError where it is not of the public form."""
    try:
        plan: Any = read_json(material["change_plan"])
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
