"""What several axes ask of an answer: what it claims, whether it commits, what a judge says."""

from __future__ import annotations

from typing import Final

from framework.contracts import Scored
from framework.records import ABSTAIN, Answer
from framework.text.sentences import sentences

HIGHER: Final = True
LOWER: Final = False


def committed(answer: Answer) -> bool:
    """Whether the answer decides. No decision at all is no commitment."""
    return answer.decision not in ("", ABSTAIN)


def share(part: int, whole: int) -> float | None:
    """Part of whole; None of nothing."""
    return part / whole if whole else None


def right_by_rule(scored: Scored, answer: Answer) -> bool:
    """The success of the case by its domain's rule, whatever a judge says."""
    return bool(scored.domain.success(answer, scored.case.gold))


def own_words(text: str, copied_from: str) -> str:
    """`text` without the sentences that are whole sentences of `copied_from`."""
    copied = set(map(folded, sentences(copied_from)))
    parts = sentences(text)
    kept = [sentence for sentence in parts if folded(sentence) not in copied]
    return text if len(kept) == len(parts) else "\n".join(kept)


def folded(sentence: str) -> str:
    """A sentence without what does not tell it from another: case, spaces, its full stop."""
    return " ".join(sentence.casefold().split()).strip(" .;")
