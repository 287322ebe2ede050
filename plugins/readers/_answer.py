"""From the response of the decide operation to an answer."""

from __future__ import annotations

from framework.operations.decide import DecideResponse
from framework.records import Answer

__all__ = ["answer_of"]


def answer_of(response: DecideResponse, *, decision: str, defaulted: bool = False) -> Answer:
    """The response as an answer under `decision`, which a reader may set in place of none."""
    rationale = response.rationale
    if defaulted:
        rationale += f" Nothing settles the decision; {decision} is the task's declared default."
    return Answer(
        decision=decision,
        confidence=response.confidence,
        amount=response.amount,
        rationale=rationale.strip(),
        notice=response.notice,
        facts=response.facts,
        reasons=response.reasons,
        provisions=response.provisions,
        defaulted=defaulted,
    )
