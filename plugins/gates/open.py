"""The gate that lets everything through: what the others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from framework.contracts import Gate, GateOutcome
from framework.records import Row
from framework.registry import register
from plugins.gates._paired import GateSettings


@register("gate", "open")
class Open(Gate[GateSettings]):
    """Always passes: the ablation of a gate. Its settings change no outcome."""

    in_loops: ClassVar[bool] = True

    @property
    def baseline(self) -> str | None:
        return None

    def decide(
        self,
        rows: Sequence[Row],
        baseline: Sequence[Row],
        seed: int,
        floor: Sequence[Row] | None = None,
    ) -> GateOutcome:
        return GateOutcome(name=self.name, passed=True, reason="the gate is open")
