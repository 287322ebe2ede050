"""The gate of the improvement loop: an edit stays only where held-out cases say that it helps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final, Literal

from framework.bounds import Bounded, above, at_least
from framework.contracts import Gate, GateOutcome
from framework.records import Row
from framework.registry import register
from framework.statistics.noninferiority import superiority
from framework.statistics.paired import compare

CORRECT: Final = "correct"
"""The axis of the rows that the loop gives: 1 for a correct case, else 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldoutSettings(Bounded):
    """What an edit must gain on CONFIRM, and may lose on OPTIMIZE.

    threshold : the gain in accuracy that the lower bound must exceed, or the point estimate reach.
    rule : `lower_bound` applies the threshold to the one-sided lower bound; `point` to the
        difference itself, as published: with a threshold of .02 and 100 cases a null edit passes a
        third of the time.
    alpha : one-sided level of the bound, shared by all interim analyses if CONFIRM is reused.
    per_type_floor : share of a question type's cases, and of abstention's, that an edit may lose on
        balance on OPTIMIZE: of 50 cases each type has few, and below .2 a single flip decides.
    """

    threshold: Annotated[float, at_least(0, below=1)] = 0.0
    rule: Literal["lower_bound", "point"] = "lower_bound"
    alpha: Annotated[float, above(0, below=0.5)] = 0.025
    per_type_floor: Annotated[float, at_least(0, most=1)] = 0.2


@register("gate", "heldout")
class Heldout(Gate[HeldoutSettings]):
    """Tests candidates on held-out cases inside `protocol=improve`; does not judge whole runs.

    The lower bound is that of the paired mean difference (`superiority`). Where the same
    cases are analysed again, analysis i has the level alpha 6 / (pi i)^2: all of them together
    spend alpha. Where every analysis has cases of its own, each has alpha.
    """

    in_loops: ClassVar[bool] = True

    @property
    def baseline(self) -> str | None:
        return None

    @property
    def per_type_floor(self) -> float:
        return self.settings.per_type_floor

    def at_interim(self, number: int, *, fresh: bool) -> Heldout:
        if fresh:
            return self
        alpha = self.settings.alpha * 6 / (math.pi * number) ** 2
        return Heldout(replace(self.settings, alpha=alpha))

    def decide(
        self,
        rows: Sequence[Row],
        baseline: Sequence[Row],
        seed: int,
        floor: Sequence[Row] | None = None,
    ) -> GateOutcome:
        if not baseline:
            return GateOutcome(name=self.name, passed=None, reason="judged inside the loop")
        threshold, alpha = self.settings.threshold, self.settings.alpha
        comparison = compare(
            {row.case_id: row.axes[CORRECT] for row in rows},
            {row.case_id: row.axes[CORRECT] for row in baseline},
            {row.case_id: row.cluster or None for row in baseline},
            seed=seed,
            names=("gate", CORRECT),
            alpha=2 * alpha,
        )
        decision = superiority(comparison, threshold)
        delta = comparison.delta or 0.0
        point = self.settings.rule == "point"
        passed = delta >= threshold if point else decision.passed
        reason = decision.reason
        if point:
            reason = f"gain {delta:+.3f}, {'at least' if passed else 'below'} {threshold:g}"
        finding = {
            "axis": CORRECT,
            "rule": self.settings.rule,
            "passed": passed,
            "delta": delta,
            "bound": decision.bound,
            "threshold": threshold,
            "alpha": alpha,
            "method": decision.method,
            "n": comparison.n,
        }
        return GateOutcome(name=self.name, passed=passed, findings=(finding,), reason=reason)
