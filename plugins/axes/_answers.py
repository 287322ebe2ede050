"""What several axes ask of an answer: what it claims, whether it commits, what a judge says."""

from __future__ import annotations

from typing import Final

from framework.contracts import Scored
from framework.records import ABSTAIN, Answer

HIGHER: Final = True
LOWER: Final = False


def committed(answer: Answer) -> bool:
    """Whether the answer decides. No decision at all is no commitment."""
    return answer.decision not in ("", ABSTAIN)


def share(part: int, whole: int) -> float | None:
    """Part of whole; None of nothing."""
    return part / whole if whole else None


def succeeded(scored: Scored, answer: Answer) -> bool:
    """The success of the case, as its domain defines it."""
    return bool(scored.domain.success(answer, scored.case.gold))
