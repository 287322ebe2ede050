"""The gate of an arm that claims to be better."""

from __future__ import annotations

from framework.registry import register
from framework.statistics.noninferiority import Decision, superiority
from framework.statistics.paired import Comparison
from plugins.gates._paired import GateSettings, PairedGate


@register("gate", "superiority")
class Superiority(PairedGate[GateSettings]):
    """Passes when the run is better than its baseline on every gated axis.

    On each axis the one-sided lower bound of the paired mean difference must lie above the
    threshold, or above 0 where the threshold is negative (validity.md section 4). The floor is
    not needed: what beats the baseline is not excused by the baseline's weakness.
    """

    claim = "better"

    def holds(self, comparison: Comparison, lower_is_better: bool) -> Decision:
        margin = max(self.settings.threshold, 0.0)
        return superiority(comparison, margin, lower_is_better=lower_is_better)
