"""What a candidate must pass: the in-sample gate, then an interim analysis of held-out cases.

An interim analysis measures two stacks at one moment, on cases of its own where the domain draws
any. Each of them costs something of the claim, so they are counted. Gains that are no more than the
measured noise do not count, and after several analyses without a gain the loop stops: Regimes'
seed 101 went on promoting coin flips (8.2), because a difference of nought passed the gate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.contracts import Domain, Gate, Outcome, Taxonomy
from framework.records import Case, Row
from framework.text.canonical import digest
from plugins.protocols.improve.evaluator import Evaluator, Task
from plugins.protocols.improve.results import PairedOutcomes
from plugins.protocols.improve.splits import clusters_of
from plugins.protocols.improve.stack import Stack

CORRECT: Final = "correct"
"""The axis of the rows that the gate gets."""
_LEVEL: Final = 1.645
"""One-sided 5% of the normal distribution."""
_AGAIN: Final = 1
"""The repeat of an answer with which the noise is measured."""


def judge_optimize(
    pairs: PairedOutcomes, taxonomy: Taxonomy, regime: str, floor: float | None
) -> dict[str, Any]:
    """The in-sample gate, as its event says it.

    A candidate passes when it changed a request, failures of the routed regime became correct (any
    failures without a regime; a failure with another label is no gain), no more cases are wrong
    than before, and no type, nor abstention, lost more than `floor` of its cases in the balance.
    """
    target = [o for o in pairs.before if not o.correct]
    if regime:
        target = [o for o in target if taxonomy.regime_of(o) == regime]
    fixed = set(pairs.fixed)
    target_fixed = sum(o.case_id in fixed for o in target)
    kinds = pairs.by_kind()
    worst = [
        kind
        for kind, count in kinds.items()
        if floor is not None and count["broken"] - count["fixed"] > floor * count["n"]
    ]
    changed = pairs.changed_requests
    if not changed:
        reason = "inert: it changed no recorded request"
    elif not target_fixed:
        reason = f"no failure of {regime or 'any regime'} became correct"
    elif pairs.net < 0:
        reason = f"overall loss: {len(fixed)} fixed, {len(pairs.broken)} broken"
    elif worst:
        reason = f"loss beyond the floor in {', '.join(worst)}"
    else:
        reason = ""
    return {
        "n": len(pairs.before),
        "fixed": pairs.fixed,
        "broken": pairs.broken,
        "net": pairs.net,
        "target_failures": len(target),
        "target_fixed": target_fixed,
        "requests_changed": changed,
        "errors": sum(bool(o.error) for o in pairs.after),
        "by_kind": kinds,
        "passed": not reason,
        "reason": reason,
    }


@dataclass(slots=True)
class InterimAnalyses:
    """Interim analyses of CONFIRM, counted.

    fresh : whether each has cases of its own, which the domain draws.
    """

    evaluator: Evaluator
    gate: Gate[Any]
    domain: Domain[Any]
    fresh: bool
    seed: int
    count: int = 0

    async def analyse(
        self, before: Stack, after: Stack, confirm: Sequence[Case]
    ) -> tuple[PairedOutcomes, dict[str, str | None]]:
        """The pairs, and the cluster of each case. Both stacks are measured now."""
        self.count += 1
        cases, name = confirm, "confirm"
        if self.fresh:
            name = f"confirm_{self.count}"
            cases = list(self.domain.cases(len(confirm), seed_of(self.seed, name)))
        # Cases that were asked before are asked again: another repeat of the model's answers.
        repeat = 0 if self.fresh else self.count + 1
        sides = [
            await self.evaluator.evaluate(
                Task(purpose="confirm", stack=stack, split=name, cases=cases, repeat=repeat)
            )
            for stack in (before, after)
        ]
        return PairedOutcomes(*sides), clusters_of(cases)

    def judged(self, pairs: PairedOutcomes, clusters: Mapping[str, str | None]) -> dict[str, Any]:
        """What the gate says of the last analysis, as its event has it."""
        gate = self.gate.at_interim(self.count, fresh=self.fresh)
        after, before = (_rows(side, clusters) for side in (pairs.after, pairs.settled))
        decided = gate.decide(after, before, seed_of(self.seed, "gate"))
        found = dict(decided.findings[0]) if decided.findings else {}
        return {
            "analysis": self.count,
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
    """A seed of its own for each further set of cases."""
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


# --------------------------------------------------------------------------- the noise, the plateau


async def measure_noise(
    evaluator: Evaluator,
    cases: Sequence[Case],
    known: Sequence[Outcome],
    floor: int,
    repeats: int = 1,
) -> dict[str, Any]:
    """The A/A run: by how much the bare pipeline differs from itself, as its event says it.

    The same cases in the same words are answered once more, as both sides of an interim analysis
    are asked in the same words: what hangs on the wording is the same on both and no noise of their
    difference. (Other words had been used here; they vetoed a candidate that truly gains .074.) A
    reader that answers the same request in the same way has none.

    kind : `resampled`; `rerendered` in runs of before. discordant : cases that came out otherwise,
    in either direction; net, those that became right less those that became wrong. repeats : how
    many A/A runs, each against `known`; of several, both are means over them.
    """
    discordant, net = 0, 0
    for again in range(_AGAIN, _AGAIN + repeats):
        task = Task(purpose="noise", stack=Stack(), split="confirm", cases=cases, repeat=again)
        pairs = PairedOutcomes(known, await evaluator.evaluate(task))
        discordant += len(pairs.fixed) + len(pairs.broken)
        net += pairs.net
    return {
        "kind": "resampled",
        "discordant": discordant if repeats == 1 else discordant / repeats,
        "net": net if repeats == 1 else net / repeats,
        "least_net_flips": least_net_flips(discordant / repeats, floor),
        **({} if repeats == 1 else {"repeats": repeats}),
    }


def least_net_flips(discordant: float, floor: int) -> int:
    """The least net flips that noise alone reaches in under 5% of analyses, and at least `floor`.

    discordant : cases that differed between two measurements of the same stack, or their mean over
        several. Each is a fair coin
        under no effect, so net flips have the standard deviation sqrt(discordant).
    """
    return max(floor, math.floor(_LEVEL * math.sqrt(discordant)) + 1 if discordant else floor)


@dataclass(slots=True, kw_only=True)
class Plateau:
    """Counts interim analyses in a row without a gain of at least `least` net flips."""

    least: int
    patience: int | None
    barren: int = 0

    def enough(self, net: int) -> bool:
        """Whether so many net flips count as a gain."""
        return net >= self.least

    def note(self, net: int) -> None:
        """Take note of an analysis."""
        self.barren = 0 if self.enough(net) else self.barren + 1

    @property
    def reached(self) -> bool:
        """Whether the loop should stop."""
        return self.patience is not None and self.barren >= self.patience
