"""Decide a case from a view: the decision, the facts and provisions it rests on, and the notice."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._card import card_text
from framework.operations.answering import UNDETERMINED, AnsweringOperation
from framework.operations.prompted import PromptedOperation
from framework.operations.reading import Reading, read
from framework.operations.reading.clauses import clauses_in
from framework.operations.reading.facts import Facts
from framework.operations.reading.outcome import Outcome, condition_holds
from framework.operations.reading.policy import Condition, Rule
from framework.operations.reading.quantities import as_text, quantity_of
from framework.records import ABSTAIN, EMPTY, Answer, TaskCard
from framework.registry import register
from framework.text.expressions import evaluate

__all__ = ["Decide", "DecideRequest", "DecideResponse"]

_PLACEHOLDER: Final = re.compile(
    r"\{(decision|reasons|provisions|provision_text|amount|fact:\w+)\}"
)
_UNKNOWN: Final = "not established"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideRequest:
    """The task card and the text of the view, which is all that the decision may rest on."""

    task: TaskCard
    view: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideResponse:
    """The decision with its grounds.

    decision : one of the card's decisions, `ABSTAIN` (the policy refers the case to a person) or
        `UNDETERMINED`.
    confidence : probability that the decision is right, in [0, 1]; None when not given.
    amount : in the unit of the domain; None when there is none.
    facts : field key to the value found, as text.
    reasons, provisions : principal reasons in the policy's words, codes of the rules relied on.
    notice : empty where no notice is due.
    """

    decision: str
    confidence: float | None = None
    amount: float | None = None
    facts: Mapping[str, str] = EMPTY
    reasons: tuple[str, ...] = ()
    provisions: tuple[str, ...] = ()
    rationale: str = ""
    notice: str = ""


@register("operation", "decide")
class Decide(
    PromptedOperation[DecideRequest, DecideResponse],
    AnsweringOperation[DecideRequest, DecideResponse],
):
    """Decide a case from a view under the card's rules.

    The rule-based answer is three-valued logic over admissible completions (see
    `reading.outcome`) and follows the clauses of `reading.clauses` in the card's instruction; an
    LLM is asked for the same as JSON.
    """

    slots = frozenset({"task", "record", "decisions", "notice"})

    def request_of(self, task: TaskCard, view: str) -> DecideRequest:
        return DecideRequest(task=task, view=view)

    def answer_of(self, response: DecideResponse, task: TaskCard) -> Answer:
        return Answer(
            decision=response.decision,
            confidence=response.confidence,
            amount=response.amount,
            rationale=response.rationale,
            notice=response.notice,
            facts=response.facts,
            reasons=response.reasons,
            provisions=response.provisions,
        )

    def fill(self, request: DecideRequest) -> Mapping[str, str]:
        task = request.task
        notice = (
            "a text: the notice of an adverse decision on the form below, every placeholder "
            f"filled in; empty for any other decision. The form:\n{task.notice}\n(end of the form)"
            if task.notice
            else "an empty text"
        )
        return {
            "task": card_text(task),
            "record": request.view,
            "decisions": ", ".join(_decisions(task)),
            "notice": notice,
        }

    def schema(self, request: DecideRequest) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        schema["properties"]["decision"]["enum"] = list(_decisions(request.task))
        keys = [field.key for field in request.task.fields]
        schema["properties"]["facts"].update(_json.nullable_texts(keys))
        return dict(schema)

    def parse(self, text: str, request: DecideRequest) -> DecideResponse:
        data = self.json_object(text)
        _json.expect_keys(data, tuple(DecideResponse.__dataclass_fields__))
        decision = _json.text(data, "decision")
        if decision not in _decisions(request.task):
            raise ValueError(f"decision {decision!r} is not one of the card")
        confidence = _json.number_or_none(data, "confidence")
        if confidence is not None and not 0 <= confidence <= 1:
            raise ValueError(f"confidence {confidence} is not in [0, 1]")
        facts = _json.text_map(data, "facts")
        unknown = sorted(facts.keys() - {field.key for field in request.task.fields})
        if unknown:
            raise ValueError(f"facts for unknown fields {unknown}")
        return DecideResponse(
            decision=decision,
            confidence=confidence,
            amount=_json.number_or_none(data, "amount"),
            facts=facts,
            reasons=_json.texts(data, "reasons"),
            provisions=_json.texts(data, "provisions"),
            rationale=_json.text(data, "rationale"),
            notice=_json.text(data, "notice"),
        )

    def offline(self, request: DecideRequest, profile: Profile) -> DecideResponse:
        task = request.task
        reading = read(request.view, task, profile)
        force = clauses_in(task.instruction, self.name).in_force(task.query)
        outcome = _under(force, reading.outcome(), task)
        obeyed = profile.gullible and bool(reading.injected)
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


def _decisions(task: TaskCard) -> tuple[str, ...]:
    return (*task.decisions, ABSTAIN, UNDETERMINED)


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


def _applied(rule: Rule, fires: bool | None, facts: Facts) -> str:
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
    """The card's form letter with its placeholders filled in."""

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
        "amount": _UNKNOWN if amount is None else as_text(amount, "money"),
    }
    return _PLACEHOLDER.sub(fill, task.notice)
