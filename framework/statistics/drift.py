"""How similarity to a task is lost along a chain."""

from __future__ import annotations

from collections.abc import Sequence


def kept_a_link(similarity: Sequence[float]) -> float | None:
    """What a link keeps of the similarity to the task, given it from the entry (k = 0) to the end.

    The sum over k of s_(k+1) over that of s_k: rho where s_k = s_0 rho^k (Depth assumption 4), and
    a weighted mean of the links' ratios elsewhere, which no single small s_k can blow up. None
    where the sum of all but the last is not above 0.
    """
    before = sum(similarity[:-1])
    return sum(similarity[1:]) / before if before > 0 else None
