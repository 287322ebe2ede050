"""The reader that gives one decision whatever it is shown: a control."""

from __future__ import annotations

from dataclasses import dataclass

from framework.contracts import Client, Reader
from framework.errors import UserError
from framework.records import ABSTAIN, Answer, MemoryView, TaskCard
from framework.registry import nearest, register
from plugins.readers.commit import amount_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AlwaysSettings:
    """Settings of `reader=always`.

    decision : one of the task's decisions, or `ABSTAIN`; empty: the task's default decision.
    """

    decision: str = ""


@register("reader", "always")
class Always(Reader[AlwaysSettings]):
    """Always gives the same answer: what one decision achieves without memory or model.

    It asks no model and states no fact, so the answer is never determined by the view. An axis on
    which the best of the constant answers does well measures how often that decision is right.
    """

    Settings = AlwaysSettings

    def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        decision = self.settings.decision or task.default_decision
        allowed = (*task.decisions, ABSTAIN)
        if decision not in allowed:
            raise UserError(
                f"reader.decision: {decision!r} is no decision of the task"
                f"{nearest(decision, allowed)}"
            )
        return Answer(
            decision=decision,
            amount=amount_of(task, decision, {}),
            rationale=f"The decision is always {decision}.",
            defaulted=True,
        )
