"""The reader that always commits (LongHorizon 3.5, every condition but VM)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from framework.contracts import Client, Reader
from framework.operations.answering import UNDETERMINED, AnswerRequest, answering
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import register
from framework.text.expressions import evaluate
from framework.text.values import canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSettings:
    """Settings of `reader=commit`.

    undetermined : `choose`, the paper's forced choice: a language model must give a decision, and
        where the rule-based one determines none, one is chosen evenly by a hash of the case.
        `default` lets the model leave it open and takes the card's default decision.
    ask : `together`, one call for all of the answer; `apart`, one question a call where the
        operation has parts (the decision, the facts, the grounds), for models that lose a long
        form. What was decided is told to the parts that follow.
    """

    undetermined: Literal["choose", "default"] = "choose"
    ask: Literal["together", "apart"] = field(default="together", metadata={"later": True})


@register("reader", "commit")
class Commit(Reader[CommitSettings]):
    """Answers in one call, or one per part, and always commits to a decision.

    It never abstains for want of knowledge: an `ABSTAIN` it returns is the referral that a rule of
    the policy demands. A decision that was chosen or is the default says so (`defaulted`), and has
    the amount that the card's formula gives from the facts that the answer states, if it does. A
    task without decisions, or without a default, raises ValueError when one is needed.
    """

    Settings = CommitSettings

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        chooses = self.settings.undetermined == "choose"
        operation = answering(task)
        asked = replace(task, must_decide=True) if chooses and task.decisions else task
        request = AnswerRequest(task=asked, view=view.text)
        parts = operation.apart() if self.settings.ask == "apart" else (operation,)
        for part in parts:
            response = await client.ask(part, request)
            request = replace(request, answered=(*request.answered, response))
        if len(parts) > 1:
            response = operation.joined(request.answered)
        answer = operation.answer_of(response, task)
        if answer.decision != UNDETERMINED:
            return answer
        if not (task.decisions if chooses else task.default_decision):
            raise ValueError("the task card has no default decision to commit to")
        decision = client.choose(task.decisions) if chooses else task.default_decision
        why = "was chosen evenly" if chooses else "is the task's declared default"
        return replace(
            answer,
            decision=decision,
            amount=amount_of(task, decision, answer.facts),
            rationale=f"{answer.rationale} Nothing settles the decision; {decision} {why}.".strip(),
            defaulted=True,
        )


def amount_of(task: TaskCard, decision: str, facts: Mapping[str, str]) -> float | None:
    """The amount of a decision, as far as the stated facts give it: of a denial, say, always 0."""
    formula = task.amounts.get(decision, "")
    values = {}
    for asked in task.fields:
        number = canonical(facts.get(asked.key, ""), asked.type)
        if number is not None and asked.type in ("money", "percent", "count", "score"):
            values[asked.key] = float(number)
    try:
        return evaluate(formula, values) if formula else None
    except ValueError:
        return None
