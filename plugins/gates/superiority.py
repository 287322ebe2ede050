"""The gate of an arm that claims to be better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from framework import statistics
from framework.contracts import Gate, GateOutcome
from framework.records import Row
from framework.registry import register
from plugins.gates._paired import (
    GateSettings,
    check_axes,
    findings,
    judge,
    nothing_to_judge,
    summary,
)


@register("gate", "superiority")
class Superiority(Gate[GateSettings]):
    """Passes when the run is better than its baseline on every gated axis.

    On each axis the one-sided lower bound of the paired mean difference must lie above the
    threshold, or above 0 where the threshold is negative (docs/validity.md section 4). The floor is
    not needed: what beats the baseline is not excused by the baseline's weakness.
    """

    Settings: ClassVar[type[Any]] = GateSettings

    def __init__(self, settings: GateSettings) -> None:
        super().__init__(settings)
        check_axes(settings)

    @property
    def baseline(self) -> str | None:
        return self.settings.baseline

    def decide(
        self,
        rows: Sequence[Row],
        baseline: Sequence[Row],
        seed: int,
        floor: Sequence[Row] | None = None,
    ) -> GateOutcome:
        if self.settings.baseline is None:
            return nothing_to_judge(self.name)
        margin = max(self.settings.threshold, 0.0)
        judged = judge(
            rows,
            baseline,
            self.settings,
            lambda c, lower: statistics.superiority(c, margin, lower_is_better=lower),
            seed,
        )
        return GateOutcome(
            name=self.name,
            passed=all(j.decision.passed for j in judged),
            findings=findings(judged, {}),
            reason=summary(judged, "better"),
        )
