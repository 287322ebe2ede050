"""The verified reader: checks completeness first, else abstains (VM, LongHorizon 7.3)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Final

from framework.bounds import Bounded, at_least
from framework.contracts import Client, Reader
from framework.operations.answering import UNDETERMINED, AnswerRequest, answering
from framework.operations.check_completeness import (
    CheckCompleteness,
    CompletenessRequest,
    Strictness,
)
from framework.records import ABSTAIN, Answer, MemoryView, TaskCard
from framework.registry import register

_CHECK: Final = CheckCompleteness()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSettings(Bounded):
    """Settings of `reader=verified`.

    strictness : what must be known before it commits (see `CheckCompleteness`).
    threshold : confidence, in [0, 1], below which a decision is withdrawn; a decision without a
        stated confidence counts as below. 0 withdraws nothing.
    """

    strictness: Strictness = "moderate"
    threshold: Annotated[float, at_least(0, most=1)] = field(default=0.0, metadata={"later": True})


@register("reader", "verified")
class Verified(Reader[VerifiedSettings]):
    """Decides only if a completeness check passes on the view; otherwise `ABSTAIN`.

    A check that can't be read abstains too, as does a decision left undetermined: the published
    code committed on both. With a threshold so does a decision of less confidence, stated or from
    log-probabilities: over thresholds CAR is a curve (El-Yaniv and Wiener 2010). The check reads a
    task card's fields and policy: only tasks that ask for a decision have one.
    """

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        request = CompletenessRequest(
            task=task, view=view.text, strictness=self.settings.strictness
        )
        try:
            check = await client.ask(_CHECK, request)
        except ValueError as error:
            return Answer(
                decision=ABSTAIN, rationale=f"The completeness check could not be read: {error}."
            )
        if check.gaps:
            return Answer(
                decision=ABSTAIN, rationale=f"The record is incomplete: {'; '.join(check.gaps)}."
            )
        operation = answering(task)
        response = await client.ask(operation, AnswerRequest(task=task, view=view.text))
        answer = operation.answer_of(response, task)
        if answer.decision == UNDETERMINED:
            return replace(answer, decision=ABSTAIN, notice="", amount=None)
        stated, threshold = answer.confidence, self.settings.threshold
        if threshold and (stated is None or stated < threshold):
            told = "none" if stated is None else f"{stated:.2f}"
            why = f"Confidence in {answer.decision}: {told}, {threshold:g} needed."
            return replace(
                answer,
                decision=ABSTAIN,
                notice="",
                amount=None,
                rationale=" ".join(filter(None, (why, answer.rationale))),
            )
        return answer
