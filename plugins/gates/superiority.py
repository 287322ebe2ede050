"""The gate of an arm that claims to be better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from framework.bounds import at_least
from framework.registry import register
from plugins.gates._paired import GateSettings, PairedGate

if TYPE_CHECKING:
    from framework.statistics.noninferiority import Decision
    from framework.statistics.paired import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class SuperioritySettings(GateSettings):
    """As `GateSettings`; margin : what the lower bound must exceed, by default nothing."""

    margin: Annotated[float, at_least(0, below=1)] = 0.0

    def margin_of(self, threshold: float) -> float:
        return max(threshold, 0.0)

    def identity(self) -> dict[str, Any]:
        # The default was once the other gate's, and meant nothing here.
        return {**GateSettings.identity(self), "threshold": self.margin or -0.05}


@register("gate", "superiority")
class Superiority(PairedGate[SuperioritySettings]):
    """Passes if the run is better than its baseline on every gated axis.

    On each axis the one-sided lower bound of the paired mean difference must lie above the
    margin (validity.md section 4). The floor is not needed: what beats the baseline is not excused
    by the baseline's weakness.
    """

    claim = "better"

    def holds(self, comparison: Comparison, lower_is_better: bool) -> Decision:
        from framework.statistics.noninferiority import superiority

        return superiority(comparison, self.settings.margin, lower_is_better=lower_is_better)
