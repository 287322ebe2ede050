"""Looks at CONFIRM: two stacks measured at one moment, on cases of the look where there are any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.contracts import Domain, Gate, Outcome
from framework.improve.flips import Flips, flips
from framework.improve.measure import Bench, Task
from framework.improve.splits import clusters_of
from framework.improve.stack import Stack
from framework.records import Case, Row
from framework.text.canonical import digest

__all__ = ["Looks", "seed_of"]

CORRECT: Final = "correct"
"""The axis of the rows that the gate gets."""


class Looks:
    """Counts the looks, since every one of them costs something of the claim.

    fresh : whether a look has cases of its own, which the domain draws.
    """

    def __init__(
        self, bench: Bench, gate: Gate[Any], domain: Domain[Any], *, fresh: bool, seed: int
    ) -> None:
        self._bench = bench
        self._gate = gate
        self._domain = domain
        self._seed = seed
        self.fresh = fresh
        self.count = 0

    async def look(
        self, before: Stack, after: Stack, confirm: Sequence[Case]
    ) -> tuple[Flips, dict[str, str | None]]:
        """The pairs, and the cluster of each case. Both stacks are measured anew."""
        self.count += 1
        cases, name = confirm, "confirm"
        if self.fresh:
            name = f"confirm_{self.count}"
            cases = list(self._domain.cases(len(confirm), seed_of(self._seed, name)))
        # Cases that were asked before are asked again: another sample of the model's answers.
        sample = 0 if self.fresh else self.count + 1

        async def measured(stack: Stack) -> tuple[Outcome, ...]:
            return await self._bench.evaluate(
                Task(purpose="confirm", stack=stack, split=name, cases=cases, sample=sample)
            )

        pairs = flips(await measured(before), await measured(after))
        return pairs, clusters_of(cases)

    def judged(self, pairs: Flips, clusters: Mapping[str, str | None]) -> dict[str, Any]:
        """What the gate says of the last look."""
        gate = self._gate.at_look(self.count, fresh=self.fresh)
        after, before = (_rows(side, clusters) for side in (pairs.after, pairs.before))
        decided = gate.decide(after, before, seed_of(self._seed, "gate"))
        found = dict(decided.findings[0]) if decided.findings else {}
        return {
            "look": self.count,
            "gate": decided.name,
            "gate_passed": bool(decided.passed),
            "judged": bool(decided.findings),
            "delta": pairs.net / max(1, len(pairs.before)),
            "bound": found.get("bound"),
            "alpha": found.get("alpha"),
            "threshold": found.get("threshold"),
            "reason": decided.reason,
        }


def seed_of(seed: int, name: str) -> int:
    """A seed of its own for each further draw of cases."""
    return int(digest([seed, name])[7:15], 16)


def _rows(outcomes: Sequence[Outcome], clusters: Mapping[str, str | None]) -> list[Row]:
    return [
        Row(
            case_id=o.case_id,
            arm="",
            stratum=o.kind,
            cluster=clusters[o.case_id] or "",
            axes={CORRECT: float(o.correct)},
        )
        for o in outcomes
    ]
