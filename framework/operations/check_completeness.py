"""Check that a view holds what a decision needs, before it is taken (LongHorizon 7.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._card import card_text
from framework.operations.prompted import PromptedOperation
from framework.operations.reading import Reading, read
from framework.operations.reading.outcome import Outcome
from framework.records import TaskCard
from framework.registry import register
from framework.text.expressions import names

__all__ = ["CheckCompleteness", "CompletenessRequest", "CompletenessResponse", "Strictness"]

Strictness = Literal["strict", "moderate", "permissive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessRequest:
    """The task card, the text of the view, and how much must be known (see `CheckCompleteness`)."""

    task: TaskCard
    view: str
    strictness: Strictness


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessResponse:
    """`complete` exactly when there are no `gaps`; each gap names one thing that is wanting."""

    complete: bool
    gaps: tuple[str, ...] = ()


@register("operation", "check_completeness")
class CheckCompleteness(PromptedOperation[CompletenessRequest, CompletenessResponse]):
    """Say whether a view is complete enough to decide on, and what is wanting.

    permissive : the decision is determined by what is seen.
    moderate : also, the rules in force are listed and all seen, and everything that the rules up
        to the deciding one compare, and the amount's formula reads, is known.
    strict : also, every field of the answer form is known. Known means one value, no conflict.
    """

    slots = frozenset({"task", "record", "demand"})

    def fill(self, request: CompletenessRequest) -> Mapping[str, str]:
        return {
            "task": card_text(request.task),
            "record": request.view,
            "demand": self.rule(request.strictness),
        }

    def parse(self, text: str, request: CompletenessRequest) -> CompletenessResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("complete", "gaps"))
        complete, gaps = _json.truth(data, "complete"), _json.texts(data, "gaps")
        if complete == bool(gaps):
            raise ValueError(f"complete is {complete}, yet there are {len(gaps)} gaps")
        return CompletenessResponse(complete=complete, gaps=gaps)

    def offline(self, request: CompletenessRequest, profile: Profile) -> CompletenessResponse:
        reading = read(request.view, request.task, profile)
        if profile.gullible and reading.injected:
            return CompletenessResponse(complete=True)
        gaps = _gaps(request, reading)
        return CompletenessResponse(complete=not gaps, gaps=gaps)


def _gaps(request: CompletenessRequest, reading: Reading) -> tuple[str, ...]:
    task, strictness = request.task, request.strictness
    outcome = reading.outcome()
    gaps = [] if outcome.decision else ["the decision does not follow from the record"]
    if strictness != "permissive":
        if not reading.policy.lists_rules:
            gaps.append("the list of the rules in force")
        gaps.extend(f"the text of {code}" for code in reading.policy.missing)
        keys = _needed(task, reading, outcome)
        if strictness == "strict":
            keys.update((field.key, field.label) for field in task.fields)
        gaps.extend(gap for key, label in keys.items() if (gap := _gap(reading, key, label)))
    return tuple(gaps)


def _gap(reading: Reading, key: str, label: str) -> str:
    if reading.facts.value(key) is not None:
        return ""
    figures = " or ".join(value.text for value in reading.facts.stated(key))
    return f"the {label} is in conflict: {figures}" if figures else f"the {label}"


def _needed(task: TaskCard, reading: Reading, outcome: Outcome) -> dict[str, str]:
    """Key to label of what the rules up to the deciding one compare, and the amount reads."""
    order = reading.policy.precedence
    decided = outcome.decision
    upto = order[: order.index(decided) + 1] if decided in order and outcome.fired else None
    keys: dict[str, str] = {}
    for rule, _ in outcome.rules:
        if upto is None or rule.decision in upto:
            for condition in rule.conditions:
                keys.setdefault(condition.left, condition.left_text)
                if condition.right:
                    keys.setdefault(condition.right, condition.right_text.removeprefix("the "))
    labels = {field.key: field.label for field in task.fields}
    if formula := task.amounts.get(decided, ""):
        keys.update((key, labels.get(key, key)) for key in sorted(names(formula)))
    return {key: labels.get(key, text) for key, text in keys.items()}
