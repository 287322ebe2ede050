"""The reader that always commits (LongHorizon 3.5, every condition but VM)."""

from __future__ import annotations

from typing import Final

from framework.contracts import Client, Reader
from framework.operations.decide import UNDETERMINED, Decide, DecideRequest
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register
from plugins.readers._answer import answer_of

_DECIDE: Final = Decide()


@register("reader", "commit")
class Commit(Reader[NoSettings]):
    """One call; what it leaves undetermined becomes the card's default decision.

    It never abstains for want of knowledge: an `ABSTAIN` it returns is the referral that a rule of
    the policy demands. A task without a default decision raises ValueError when one is needed.
    """

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        response = await client.ask(_DECIDE, DecideRequest(task=task, view=view.text))
        if response.decision != UNDETERMINED:
            return answer_of(response, decision=response.decision)
        if not task.default_decision:
            raise ValueError("the task card has no default decision to commit to")
        return answer_of(response, decision=task.default_decision, defaulted=True)
