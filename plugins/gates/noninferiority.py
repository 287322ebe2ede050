"""The gate of an arm that may be cheaper or smaller, but not worse by more than a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from framework.contracts import GateOutcome
from framework.records import Row
from framework.registry import register
from plugins.gates._paired import GateSettings, PairedGate, best_constant, judge

if TYPE_CHECKING:
    from framework.statistics.noninferiority import Decision
    from framework.statistics.paired import Comparison

SENSITIVITY: Final = 2.0
"""The baseline's proven effect must be at least this many margins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoninferioritySettings(GateSettings):
    """As `GateSettings`; the margin must be above 0."""

    def __post_init__(self) -> None:
        given = f"gate.margin: {self.margin} given, a number above 0 expected"
        if self.threshold is not None:
            given = f"gate.threshold: {self.threshold} given, a number below 0 expected (minus the "
            given += "margin)"
        GateSettings.__post_init__(self)
        if not self.margin > 0:
            raise ValueError(f"{given}; to ask for more than the baseline use gate=superiority")


@register("gate", "noninferiority")
class Noninferiority(PairedGate[NoninferioritySettings]):
    """Passes if the run is not worse than its baseline by the margin or more, on any gated axis.

    On each axis the one-sided lower bound of the paired mean difference must lie above
    minus the margin; the point estimate decides nothing, and zero discordance is
    bounded exactly: 72 cases for a margin of .05 (validity.md section 4, statistics.bounds).
    Requiring every axis needs no correction for their number.

    Assay sensitivity: the same bound of baseline minus a floor must exceed twice the margin, the
    fixed-margin rule that a margin preserve half of the baseline's proven effect (FDA,
    Non-Inferiority Clinical Trials, 2016, section IV). Else being no worse than the baseline shows
    nothing, and the gate fails. The floor of an axis of decisions (`Axis.of_decision`) is the best
    constant answer on these cases; of any other, the rows of `arch=none`, where they are given:
    else its finding says `not checked`.
    """

    claim = "not worse"

    def holds(self, comparison: Comparison, lower_is_better: bool) -> Decision:
        from framework.statistics.noninferiority import noninferiority

        return noninferiority(comparison, self.settings.margin, lower_is_better=lower_is_better)

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
        for axis in insensitive:
            reason += (
                f"; {axis}: the baseline does not beat {sensitivity[axis]['floor']} by "
                f"{SENSITIVITY:g} margins, so being no worse than it shows nothing"
            )
        if any(found["sensitive"] is None for found in sensitivity.values()):
            reason += "; whether the baseline beats arch=none was not checked"
        return replace(
            outcome,
            passed=outcome.passed and not insensitive,
            findings=tuple({**found, **sensitivity[found["axis"]]} for found in outcome.findings),
            reason=reason,
        )

    def _sensitivity(
        self, baseline: Sequence[Row], floor: Sequence[Row] | None, seed: int
    ) -> dict[str, dict[str, Any]]:
        from framework.statistics.noninferiority import superiority

        def beats(comparison: Comparison, lower_is_better: bool) -> Decision:
            proven = SENSITIVITY * self.settings.margin
            return superiority(comparison, proven, lower_is_better=lower_is_better)

        judged: dict[str, dict[str, Any]] = {}
        for axis in self.settings.axes:
            constant = best_constant(baseline, axis)
            name = f"always {constant[0]}" if constant else "arch=none"
            beneath = constant[1] if constant else floor
            judged[axis] = {"sensitive": None, "sensitivity": "not checked", "floor": name}
            if beneath is not None:
                only = replace(self.settings, axes=(axis,))
                (found,) = judge(baseline, beneath, only, beats, seed, label="sensitivity")
                judged[axis] |= {"sensitive": found["passed"], "sensitivity": found["reason"]}
        return judged
