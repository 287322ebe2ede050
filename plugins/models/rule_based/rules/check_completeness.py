"""What a view lacks for a decision, by the policy that it holds."""

from __future__ import annotations

from framework.contracts import Profile, Rule
from framework.operations.check_completeness import (
    CompletenessRequest,
    CompletenessResponse,
)
from framework.records import TaskCard
from framework.registry import register
from framework.text.expressions import names
from plugins.models.rule_based.reading.outcome import Outcome
from plugins.models.rule_based.reading.read import Reading, read


@register("rule", "check_completeness")
class CheckCompletenessRule(Rule[CompletenessRequest, CompletenessResponse]):
    """The gaps that a reader would find in the view, at the given strictness.

    Where the profile follows injections and the view holds one, nothing is found wanting.
    """

    def answer(self, request: CompletenessRequest, profile: Profile) -> CompletenessResponse:
        reading = read(request.view, request.task, profile)
        if profile.follows_injections and reading.injected:
            return CompletenessResponse()
        gaps = _gaps(request, reading)
        return CompletenessResponse(gaps=gaps)


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
