"""The reader that always commits (LongHorizon 3.5, every condition but VM)."""

from __future__ import annotations

from dataclasses import replace

from framework.contracts import Client, Reader
from framework.operations.answering import UNDETERMINED, AnswerRequest, answering
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register


@register("reader", "commit")
class Commit(Reader[NoSettings]):
    """One call; what it leaves undetermined becomes the card's default decision.

    It never abstains for want of knowledge: an `ABSTAIN` it returns is the referral that a rule of
    the policy demands. A task without a default decision raises ValueError when one is needed.
    """

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        operation = answering(task)
        response = await client.ask(operation, AnswerRequest(task=task, view=view.text))
        answer = operation.answer_of(response, task)
        if answer.decision != UNDETERMINED:
            return answer
        if not task.default_decision:
            raise ValueError("the task card has no default decision to commit to")
        default = task.default_decision
        rationale = f"Nothing settles the decision; {default} is the task's declared default."
        return replace(
            answer,
            decision=default,
            rationale=f"{answer.rationale} {rationale}".strip(),
            defaulted=True,
        )
