"""Two measurements of the same cases, side by side: what was fixed, what was broken, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from framework.contracts import Outcome, Taxonomy

__all__ = ["Flips", "flips", "judge_optimize"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Paired outcomes: `before` and `after` hold the same cases in the same order."""

    before: tuple[Outcome, ...]
    after: tuple[Outcome, ...]

    @property
    def fixed(self) -> list[str]:
        """Cases that were wrong and are right."""
        return [b.case_id for b, a in self._pairs() if a.correct and not b.correct]

    @property
    def broken(self) -> list[str]:
        """Cases that were right and are wrong."""
        return [b.case_id for b, a in self._pairs() if b.correct and not a.correct]

    @property
    def net(self) -> int:
        """Fixed less broken."""
        return len(self.fixed) - len(self.broken)

    @property
    def changed_requests(self) -> int:
        """Cases whose recorded request is another; a case with an error counts as changed."""
        return sum(a.request != b.request or bool(a.error) for b, a in self._pairs())

    def by(self, groups: Sequence[str]) -> dict[str, dict[str, int]]:
        """Cases, fixed and broken by group, given the group of each case; empty groups left out."""
        counts: dict[str, Counter[str]] = {}
        for group, (b, a) in zip(groups, self._pairs(), strict=True):
            count = counts.setdefault(group, Counter())
            count["n"] += 1
            count["before"] += b.correct
            count["after"] += a.correct
            count["fixed"] += a.correct and not b.correct
            count["broken"] += b.correct and not a.correct
        names = ("n", "before", "after", "fixed", "broken")
        return {g: {n: int(c[n]) for n in names} for g, c in sorted(counts.items())}

    def by_kind(self) -> dict[str, dict[str, int]]:
        """By question type, and `abstention` for the cases where not answering is right."""
        kinds = self.by([o.kind for o in self.before])
        abstain = [o.abstention for o in self.before]
        if any(abstain):
            kinds["abstention"] = self.by(["abstention" if a else "" for a in abstain])[
                "abstention"
            ]
        return kinds

    def by_regime(self, taxonomy: Taxonomy) -> dict[str, dict[str, int]]:
        """By the regime that the case had before, `correct` for none (localisation)."""
        return self.by([taxonomy.regime_of(o) or "correct" for o in self.before])

    def _pairs(self) -> list[tuple[Outcome, Outcome]]:
        return list(zip(self.before, self.after, strict=True))


def flips(before: Sequence[Outcome], after: Sequence[Outcome]) -> Flips:
    """The pairs. Raises ValueError for different cases, or the same in another order."""
    if [o.case_id for o in before] != [o.case_id for o in after]:
        raise ValueError("not the same cases in the same order")
    return Flips(before=tuple(before), after=tuple(after))


def judge_optimize(
    pairs: Flips, taxonomy: Taxonomy, regime: str, floor: float | None
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
