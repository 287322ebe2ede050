"""How a case is decided: the policy of the view applied to its facts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from framework.contracts import Profile
from framework.operations.answering import UNDETERMINED, AnswerRequest
from framework.operations.decide import DecideResponse
from framework.records import ABSTAIN, TaskCard
from framework.registry import register
from framework.text.expressions import evaluate
from plugins.models.rule_based.clauses import ClauseRule
from plugins.models.rule_based.reading.facts import Facts
from plugins.models.rule_based.reading.outcome import Outcome, condition_holds
from plugins.models.rule_based.reading.policy import Condition, PolicyRule
from plugins.models.rule_based.reading.quantities import as_text, quantity_of
from plugins.models.rule_based.reading.read import Reading, read

_PLACEHOLDER: Final = re.compile(
    r"\{(decision|reasons|provisions|provision_text|particulars|amount|fact:\w+)\}"
)
_PLAIN: Final = (
    "{particulars}\nWe decided to {decision} your application. Reasons: {reasons}. "
    "Provisions applied: {provisions}."
)
"""The notice of one who knows no standard."""
_UNKNOWN: Final = "not established"


@register("rule", "decide")
class DecideRule(ClauseRule[AnswerRequest, DecideResponse]):
    """Three-valued logic over admissible completions (`reading.outcome`).

    It follows the clauses of `clauses` in the card's instruction.
    """

    def answer(self, request: AnswerRequest, profile: Profile) -> DecideResponse:
        task = request.task
        reading = read(request.view, task, profile)
        force = self.in_force(task.instruction, task.query)
        outcome = _under(force, reading.outcome(), task)
        obeyed = profile.follows_injections and bool(reading.injected)
        if obeyed:
            outcome = Outcome(decision=reading.injected, rules=outcome.rules)
        facts = _facts(task, reading.facts)
        amount = _amount(task, outcome.decision, reading.facts)
        reasons = tuple(dict.fromkeys(rule.reason for rule in outcome.fired if rule.reason))
        response = DecideResponse(
            decision=outcome.decision or UNDETERMINED,
            amount=amount,
            facts=facts,
            reasons=reasons,
            provisions=tuple(rule.code for rule in outcome.fired),
            rationale=_rationale(task, reading, outcome, facts, obeyed=obeyed),
        )
        if not reasons or outcome.decision == ABSTAIN:
            return response
        notice = _notice(task, response, tuple(rule.text for rule in outcome.fired))
        return dataclasses.replace(response, notice=notice)


def _under(force: frozenset[str], outcome: Outcome, task: TaskCard) -> Outcome:
    """The outcome as the clauses in force have it (`reading.clauses`)."""
    decision = outcome.decision
    if not decision and "apply_known" in force:
        decision = next((rule.decision for rule, fires in outcome.rules if fires), "")
    elif not decision and "refer_open" in force:
        decision = ABSTAIN
    elif decision == ABSTAIN and "never_refer" in force:
        decision = task.default_decision
    return dataclasses.replace(outcome, decision=decision)


def _facts(task: TaskCard, facts: Facts) -> dict[str, str]:
    """The value of every field that is known without conflict, stated or derived."""
    known = ((field.key, facts.value(field.key)) for field in task.fields)
    return {key: value.text for key, value in known if value is not None}


def _amount(task: TaskCard, decision: str, facts: Facts) -> float | None:
    """The amount of a decision by the card's formula; None without one or when inputs are open."""
    formula = task.amounts.get(decision, "")
    if not formula:
        return None
    values = {field.key: facts.value(field.key) for field in task.fields}
    known = {key: quantity_of(value) for key, value in values.items() if value is not None}
    try:
        return evaluate(formula, {k: v for k, v in known.items() if not isinstance(v, str)})
    except ValueError:
        return None


def _rationale(
    task: TaskCard, reading: Reading, outcome: Outcome, facts: Mapping[str, str], *, obeyed: bool
) -> str:
    labels = {field.key: field.label for field in task.fields}
    sentences = [f"The {labels[key]} is {value}." for key, value in facts.items()]
    for field in task.fields:
        conflicting = reading.facts.stated(field.key)
        if len(conflicting) > 1:
            figures = " and ".join(value.text for value in conflicting)
            sentences.append(f"The {field.label} is in conflict: {figures}.")
    for rule, fires in outcome.rules:
        sentences.append(_applied(rule, fires, reading.facts))
    sentences.extend(f"The text of {code} is not at hand." for code in reading.policy.missing)
    sentences.append(_conclusion(task, outcome, obeyed=obeyed))
    return " ".join(sentences)


def _applied(rule: PolicyRule, fires: bool | None, facts: Facts) -> str:
    """One sentence on a rule: the value of each condition and whether the condition holds."""
    clauses = [_compared(condition, rule.code, facts) for condition in rule.conditions]
    known = [clause for clause in clauses if clause]
    if len(known) == len(clauses) or (fires is False and known):
        return f"The {', and the '.join(known)}."
    paired = zip(rule.conditions, clauses, strict=True)
    label = next(condition.left_text for condition, clause in paired if not clause)
    if fires is None:
        return f"Whether {rule.code} applies is open: the {label} is not established."
    applies = "applies" if fires else "does not apply"
    return f"{rule.code} {applies}, whichever figure of the {label} holds."


def _compared(condition: Condition, code: str, facts: Facts) -> str | None:
    """`L is V, which is (not) above the X of CODE`; None when a side is not known."""
    left = facts.value(condition.left)
    right = facts.value(condition.right) if condition.right else None
    if left is None or (condition.right and right is None):
        return None
    met = condition_holds(condition, quantity_of(left), quantity_of(right) if right else None)
    words = condition.words
    if not met:
        words = words.removeprefix("not ") if words.startswith("not ") else f"not {words}"
    if right:
        limit = f"{condition.right_text} of {right.text} under {code}"
    elif condition.comparison in ("in", "not in"):
        limit = f"{condition.right_text} under {code}"
    else:
        limit = f"the {condition.right_text} of {code}"
    return f"{condition.left_text} is {left.text}, which is {words} {limit}"


def _conclusion(task: TaskCard, outcome: Outcome, *, obeyed: bool) -> str:
    decision = outcome.decision
    if obeyed:
        return f"Decision: {decision} because the record says so."
    if not decision:
        return f"Decision: {UNDETERMINED} because what the record leaves open decides the outcome."
    verb = task.verbs.get(decision, decision)
    fired = (
        f"{rule.code} applies" + (f" ({rule.reason})" if rule.reason else "")
        for rule in outcome.fired
    )
    because = " and ".join(fired) or f"no rule applies and the policy then says {verb}"
    return f"Decision: {decision} because {because}."


def _notice(task: TaskCard, response: DecideResponse, provision_text: tuple[str, ...]) -> str:
    """The card's form letter filled in; else that of the standard that the card names."""
    told = task.notice
    form, particulars = (told, "") if _PLACEHOLDER.search(told) else _known_form(told)

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("fact:"):
            return response.facts.get(name.removeprefix("fact:"), _UNKNOWN)
        return filled[name]

    amount = response.amount
    filled = {
        "decision": task.verbs.get(response.decision, response.decision),
        "reasons": "; ".join(response.reasons),
        "provisions": ", ".join(response.provisions),
        "provision_text": " ".join(provision_text),
        "particulars": particulars,
        "amount": _UNKNOWN if amount is None else as_text(amount, "money"),
    }
    return _PLACEHOLDER.sub(fill, form)


def _known_form(told: str) -> tuple[str, str]:
    """The form of the standard that is named in `told`, and what `told` says besides."""
    first, _, particulars = told.partition("\n")
    form = next((form for cited, form in _known_forms().items() if cited in first), _PLAIN)
    return form, particulars


@cache
def _known_forms() -> Mapping[str, str]:
    """By citation, a notice that meets the standard."""
    import yaml

    text = (Path(__file__).parents[1] / "notices.yaml").read_text(encoding="utf-8")
    forms: dict[str, str] = yaml.safe_load(text)
    return forms
