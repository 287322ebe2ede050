"""Why a memory is needed: floors on the error of whoever lacks the decision (Depth section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from plugins.recipes.depth.laws import law

Table = Sequence[Sequence[float]] | npt.NDArray[np.float64]


@law("Theorem 1", "proven", unit="probability", assumes=("joint distribution known",))
def bayes_floor(joint: Table) -> float:
    """Least error of any agent that sees X alone: 1 - E_X max_y P(y | X).

    Args:
        joint: P(x, y), shape (|X|, |Y|), summing to 1.

    Raises:
        ValueError: for a negative entry or a sum other than 1.
    """
    return float(1 - _distribution(joint).max(axis=1).sum())


@law("Theorem 1, equation 2", "proven", unit="probability")
def fano_floor(bits: float, actions: int) -> float:
    """Least error that H(Y | X) allows, by Fano's inequality in its exact form.

    The smallest p with H_b(p) + p log2(|Y| - 1) >= H(Y | X). Positive whenever H(Y | X) > 0, where
    the closed form (H - 1) / log2 |Y| is not.

    Args:
        bits: H(Y | X), from 0 to log2 of the actions.
        actions: |Y|, at least 2.

    Raises:
        ValueError: for bits that so many actions can't have.
    """
    if actions < 2 or not 0 <= bits <= math.log2(actions) + 1e-12:
        raise ValueError(f"{bits} bits of {actions} actions: 0 to log2(actions) bits expected")
    low, high = 0.0, 1 - 1 / actions  # the bound rises up to here
    for _ in range(200):
        middle = (low + high) / 2
        if _binary_entropy(middle) + middle * math.log2(actions - 1) < bits:
            low = middle
        else:
            high = middle
    return high


@law("Theorem 2, equation 3", "proven", unit="bits")
def value_of_context(joint: npt.NDArray[np.float64]) -> float:
    """I(Y; C | X): bits about the action that the context adds to what the task shows.

    Args:
        joint: P(x, c, y), shape (|X|, |C|, |Y|), summing to 1.
    """
    p = _distribution(joint)
    without = entropy(p.sum(axis=1)) - entropy(p.sum(axis=(1, 2)))
    with_context = entropy(p) - entropy(p.sum(axis=2))
    return max(0.0, without - with_context)


@law("Theorem 3", "proven", unit="expected errors")
def regret_floor(floors: Sequence[float]) -> float:
    """Errors over many tasks that an agent without context can't avoid: the sum of their floors."""
    if any(not 0 <= floor <= 1 for floor in floors):
        raise ValueError("a floor is a probability")
    return math.fsum(floors)


@law(
    "Theorem 4, equation 4",
    "proven",
    unit="governed tasks, up to a constant",
    assumes=("decisions shattered by the learner",),
)
def learning_cost(decision_bits: float, error: float, confidence: float) -> float:
    """Order of the examples needed to learn the decisions in place of looking them up.

    Args:
        decision_bits: H(D).
        error: most that the learner may err, between 0 and 1.
        confidence: the probability that it errs more.
    """
    if decision_bits < 0 or not 0 < error < 1 or not 0 < confidence < 1:
        raise ValueError("bits of 0 or more, error and confidence between 0 and 1 expected")
    return (decision_bits + math.log(1 / confidence)) / error


@law(
    "Theorem 5, equation 5",
    "proven",
    unit="recall",
    assumes=("decisions uniform", "Hamming distortion"),
)
def compression_ceiling(rate: float, decisions: int) -> float:
    """Most recall of a memory that keeps `rate` bits a decision: 1 - R_D^-1(rate).

    For uniform decisions R_D(x) = log2 M - H_b(x) - x log2(M - 1), so the least distortion at a
    rate is Fano's floor of what the rate leaves open.

    Args:
        rate: bits stored for each decision, 0 or more.
        decisions: M, at least 2.
    """
    if rate < 0:
        raise ValueError(f"{rate} bits: 0 or more expected")
    return 1 - fano_floor(max(0.0, math.log2(decisions) - rate), decisions)


@law("Theorem 5, equation 5", "proven", unit="recall", assumes=("Hamming distortion",))
def recall_ceiling(rate: float, decision_bits: float, decisions: int) -> float:
    """Most recall of a memory that keeps `rate` bits a decision, whatever their distribution.

    What the rate leaves open, H(D) - R, is at most H_b(x) + x log2(M - 1) for an error x (Fano). Of
    uniform decisions it is `compression_ceiling`.

    Args:
        rate: bits stored for each decision, 0 or more.
        decision_bits: H(D), at most log2 of the decisions.
        decisions: M, at least 2.
    """
    if rate < 0:
        raise ValueError(f"{rate} bits: 0 or more expected")
    return 1 - fano_floor(max(0.0, decision_bits - rate), decisions)


@law(
    "Theorem 8, equation 8",
    "proven",
    unit="probability",
    assumes=("survivors near-uniform", "pool grows with depth"),
)
def pool_floor(bits: float, pool: int) -> float:
    """Least error of any decoder that has `bits` of signal about which of `pool` candidates.

    1 - (I + 1) / log2 M, never below 0: a converse, not the error of a guess.
    """
    if bits < 0 or pool < 2:
        raise ValueError("bits of 0 or more and a pool of at least 2 expected")
    return max(0.0, 1 - (bits + 1) / math.log2(pool))


def entropy(p: npt.NDArray[np.float64]) -> float:
    """Shannon entropy of a distribution of any shape, in bits."""
    positive = p[p > 0]
    return float(-(positive * np.log2(positive)).sum())


def _binary_entropy(p: float) -> float:
    return 0.0 if p in (0.0, 1.0) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def _distribution(joint: Table) -> npt.NDArray[np.float64]:
    p = np.asarray(joint, dtype=np.float64)
    if p.size == 0 or (p < 0).any() or not math.isclose(float(p.sum()), 1, abs_tol=1e-9):
        raise ValueError("a distribution expected: no negative entry, sum 1")
    return p
