"""The gate of an arm that may be cheaper or smaller, but not worse by more than a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

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

SENSITIVITY: Final = 2.0
"""The baseline's proven effect must be at least this many margins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoninferioritySettings(GateSettings):
    """As `GateSettings`; the threshold is minus the margin, so it must be below 0."""

    def __post_init__(self) -> None:
        GateSettings.__post_init__(self)
        if not self.threshold < 0:
            raise ValueError(
                f"gate.threshold: {self.threshold} given, a number below 0 expected (minus the "
                "margin); to ask for more than the baseline use gate=superiority"
            )


@register("gate", "noninferiority")
class Noninferiority(Gate[NoninferioritySettings]):
    """Passes when the run is not worse than its baseline by the margin, on every gated axis.

    On each axis the one-sided lower bound of the paired mean difference must lie above the
    threshold (minus the margin); the point estimate decides nothing, and zero discordance is
    bounded exactly: 72 cases for a margin of .05 (docs/validity.md section 4, statistics.bounds).
    Requiring every axis needs no correction for their number.

    Assay sensitivity, where rows of `arch=none` on the same cases are given: the same bound of
    baseline minus `none` must exceed twice the margin, the fixed-margin rule that a margin preserve
    half of the baseline's proven effect (FDA, Non-Inferiority Clinical Trials, 2016, section IV).
    Else being no worse than the baseline shows nothing, and the gate fails. Without them each
    finding says `not checked`.
    """

    Settings: ClassVar[type[Any]] = NoninferioritySettings

    def __init__(self, settings: NoninferioritySettings) -> None:
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
        margin = -self.settings.threshold
        judged = judge(
            rows,
            baseline,
            self.settings,
            lambda c, lower: statistics.noninferiority(c, margin, lower_is_better=lower),
            seed,
        )
        sensitivity = self._sensitivity(baseline, floor, margin, seed)
        insensitive = [axis for axis, found in sensitivity.items() if found["sensitive"] is False]
        reason = summary(judged, "not worse")
        if insensitive:
            reason += (
                f"; {', '.join(insensitive)}: the baseline does not beat arch=none by "
                f"{SENSITIVITY:g} margins, so being no worse than it shows nothing"
            )
        if floor is None:
            reason += "; whether the baseline beats arch=none was not checked"
        return GateOutcome(
            name=self.name,
            passed=all(j.decision.passed for j in judged) and not insensitive,
            findings=findings(judged, sensitivity),
            reason=reason,
        )

    def _sensitivity(
        self, baseline: Sequence[Row], floor: Sequence[Row] | None, margin: float, seed: int
    ) -> dict[str, dict[str, Any]]:
        if floor is None:
            return {
                axis: {"sensitive": None, "sensitivity": "not checked"}
                for axis in self.settings.axes
            }
        judged = judge(
            baseline,
            floor,
            self.settings,
            lambda c, lower: statistics.superiority(c, SENSITIVITY * margin, lower_is_better=lower),
            seed,
            label="sensitivity",
        )
        return {
            j.axis: {"sensitive": j.decision.passed, "sensitivity": j.decision.reason}
            for j in judged
        }
