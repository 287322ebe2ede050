"""The gate of an arm that may be cheaper or smaller, but not worse by more than a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from framework.contracts import GateOutcome
from framework.records import Row
from framework.registry import register
from framework.statistics.noninferiority import Decision, noninferiority, superiority
from framework.statistics.paired import Comparison
from plugins.gates._paired import GateSettings, PairedGate, judge

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
class Noninferiority(PairedGate[NoninferioritySettings]):
    """Passes when the run is not worse than its baseline by the margin, on every gated axis.

    On each axis the one-sided lower bound of the paired mean difference must lie above the
    threshold (minus the margin); the point estimate decides nothing, and zero discordance is
    bounded exactly: 72 cases for a margin of .05 (validity.md section 4, statistics.bounds).
    Requiring every axis needs no correction for their number.

    Assay sensitivity, where rows of `arch=none` on the same cases are given: the same bound of
    baseline minus `none` must exceed twice the margin, the fixed-margin rule that a margin preserve
    half of the baseline's proven effect (FDA, Non-Inferiority Clinical Trials, 2016, section IV).
    Else being no worse than the baseline shows nothing, and the gate fails. Without them each
    finding says `not checked`.
    """

    claim = "not worse"

    def holds(self, comparison: Comparison, lower_is_better: bool) -> Decision:
        return noninferiority(comparison, self._margin, lower_is_better=lower_is_better)

    def decide(
        self,
        rows: Sequence[Row],
        baseline: Sequence[Row],
        seed: int,
        floor: Sequence[Row] | None = None,
    ) -> GateOutcome:
        outcome = super().decide(rows, baseline, seed, floor)
        if outcome.passed is None:
            return outcome
        sensitivity = self._sensitivity(baseline, floor, seed)
        insensitive = [axis for axis, found in sensitivity.items() if found["sensitive"] is False]
        reason = outcome.reason
        if insensitive:
            reason += (
                f"; {', '.join(insensitive)}: the baseline does not beat arch=none by "
                f"{SENSITIVITY:g} margins, so being no worse than it shows nothing"
            )
        if floor is None:
            reason += "; whether the baseline beats arch=none was not checked"
        return replace(
            outcome,
            passed=outcome.passed and not insensitive,
            findings=tuple({**found, **sensitivity[found["axis"]]} for found in outcome.findings),
            reason=reason,
        )

    @property
    def _margin(self) -> float:
        return -float(self.settings.threshold)

    def _sensitivity(
        self, baseline: Sequence[Row], floor: Sequence[Row] | None, seed: int
    ) -> dict[str, dict[str, Any]]:
        if floor is None:
            unknown = {"sensitive": None, "sensitivity": "not checked"}
            return {axis: dict(unknown) for axis in self.settings.axes}

        def beats(comparison: Comparison, lower_is_better: bool) -> Decision:
            proven = SENSITIVITY * self._margin
            return superiority(comparison, proven, lower_is_better=lower_is_better)

        judged = judge(baseline, floor, self.settings, beats, seed, label="sensitivity")
        return {
            found["axis"]: {"sensitive": found["passed"], "sensitivity": found["reason"]}
            for found in judged
        }
