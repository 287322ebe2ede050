"""One attempt: drafts for a route, the best of them through the gates, promoted or discarded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.contracts import Gate, Outcome, Route, Target
from framework.records import Case
from plugins.protocols.improve.author import Draft, Drafting
from plugins.protocols.improve.evaluator import Evaluator, Task
from plugins.protocols.improve.events import EventLog
from plugins.protocols.improve.gates import InterimAnalyses, Plateau, judge_optimize
from plugins.protocols.improve.operators import SEAM, reading
from plugins.protocols.improve.results import PairedOutcomes, Results
from plugins.protocols.improve.settings import ImproveSettings
from plugins.protocols.improve.splits import Splits
from plugins.protocols.improve.stack import Candidate, Stack


@dataclass(slots=True, kw_only=True)
class LoopState:
    """Where a loop stands: the installed stack, what it came to, and what was tried on it.

    optimize, confirm : outcomes of the installed stack on OPTIMIZE, of the bare one on CONFIRM.
    attempts : by regime, drafts since the last promotion. silent : times in a row that the author
    had nothing to propose.
    """

    settings: ImproveSettings
    target: Target[Any]
    evaluator: Evaluator
    log: EventLog
    splits: Splits[Case]
    plateau: Plateau
    results: Results = field(default_factory=Results)
    stack: Stack = field(default_factory=Stack)
    optimize: tuple[Outcome, ...] = ()
    confirm: tuple[Outcome, ...] = ()
    attempts: dict[str, int] = field(default_factory=dict)
    promotions: int = 0
    silent: int = 0

    async def evaluate(
        self, purpose: str, stack: Stack, split: str, shown: int | None = None
    ) -> tuple[Outcome, ...]:
        """A stack on the cases of `optimize` or `confirm`."""
        cases: Sequence[Case] = getattr(self.splits, split)
        return await self.evaluator.evaluate(
            Task(purpose=purpose, stack=stack, split=split, cases=cases, shown=shown)
        )

    async def diagnose(self) -> None:
        """The installed stack on OPTIMIZE, with what an author may be shown of its failures."""
        shown = self.settings.shown_chars
        self.optimize = await self.evaluate("diagnose", self.stack, "optimize", shown)


@dataclass(slots=True)
class Attempts:
    """Tries drafts on the installed stack. `probes`: a draft at each seam of a route."""

    state: LoopState
    drafting: Drafting
    analyses: InterimAnalyses
    gate: Gate[Any]
    probes: bool

    async def run(self, route: Route) -> None:
        """One attempt for a regime: drafts, the best of them through the gates."""
        state = self.state
        state.attempts[route.regime] = state.attempts.get(route.regime, 0) + 1
        failures = [
            o
            for o in state.optimize
            if not o.correct
            and (not route.regime or state.target.taxonomy.regime_of(o) == route.regime)
        ]
        routes = [route] * state.settings.best_of
        if self.probes:
            routes = [Route(regime=route.regime, seams=(seam,)) for seam in route.seams]
        tried: list[tuple[Draft, Mapping[str, Any]]] = []
        for each in routes:
            draft = await self.drafting.draft(each, failures, state.stack)
            state.silent = state.silent + 1 if draft is None else 0
            if isinstance(draft, Draft):
                tried.append((draft, await self._optimize(draft)))
            elif draft is not None:
                self._discard(draft.candidate, draft.number, route, draft.stage, draft.reason)
        tried.sort(key=lambda pair: (-pair[1]["net"], pair[0].number))
        for draft, diff in tried[1:]:
            self._discard(draft.candidate, draft.number, route, "best_of", "another gained more")
            state.results.optimized(draft.number, diff)
        for draft, diff in tried[:1]:
            state.results.optimized(draft.number, diff)
            if not diff["passed"]:
                self._discard(draft.candidate, draft.number, route, "optimize", diff["reason"])
            else:
                await self._confirm(draft)

    async def _optimize(self, draft: Draft) -> Mapping[str, Any]:
        """Measure a candidate on OPTIMIZE against the installed stack, and judge it."""
        state = self.state
        stack = state.stack.plus(draft.candidate)
        after = await state.evaluate("optimize", stack, "optimize")
        pairs = PairedOutcomes(state.optimize, after)
        judged = judge_optimize(
            pairs, state.target.taxonomy, draft.route.regime, self.gate.per_type_floor
        )
        return self._diff(draft, stack, "optimize", {**judged, **_acted(draft, pairs)})

    async def _confirm(self, draft: Draft) -> None:
        """An interim analysis: the stack, and the stack with the candidate, both measured now."""
        state = self.state
        stack = state.stack.plus(draft.candidate)
        pairs, clusters = await self.analyses.analyse(state.stack, stack, state.splits.confirm)
        judged = self.analyses.judged(pairs, clusters)
        # An open gate judges nothing: flips that it does not look at can not stop the loop either.
        enough = not judged["judged"] or state.plateau.enough(pairs.net)
        passed = judged["gate_passed"] and enough
        reason = "" if passed else judged["reason"]
        if judged["gate_passed"] and not enough:
            reason = f"net flips {pairs.net}, fewer than the {state.plateau.least} that count"
        flips = {
            "fixed": pairs.fixed,
            "broken": pairs.broken,
            "net": pairs.net,
            "by_kind": pairs.by_kind(),
        }
        said = {**flips, **judged, **_acted(draft, pairs), "passed": passed, "reason": reason}
        diff = self._diff(draft, stack, "confirm", said)
        if diff["judged"]:
            state.plateau.note(diff["net"])
        state.results.analysed(draft.number, diff)
        if diff["passed"]:
            await self._promote(draft, stack, pairs)
        else:
            stage = "plateau" if diff["gate_passed"] else "confirm"
            self._discard(draft.candidate, draft.number, draft.route, stage, diff["reason"])

    async def _promote(self, draft: Draft, stack: Stack, pairs: PairedOutcomes) -> None:
        state = self.state
        state.log.emit(
            "transform.promoted",
            {
                "number": draft.number,
                **draft.candidate.plain(),
                "before": state.stack.digest,
                "after": stack.digest,
                "stack": [e.digest for e in stack.entries],
                "prompt_chars": stack.added,
            },
        )
        state.log.emit(
            "attribution.recorded",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "by_regime": pairs.by_regime(state.target.taxonomy),
                "by_kind": pairs.by_kind(),
            },
        )
        state.stack = stack
        state.promotions += 1
        state.attempts.clear()
        self.drafting.forget()
        after: Sequence[Outcome] = pairs.after
        if self.analyses.fresh:
            after = await state.evaluate("trajectory", stack, "confirm")
        cumulative = PairedOutcomes(state.confirm, after)
        state.results.promoted(draft.number, draft.candidate, draft.route, cumulative)
        await state.diagnose()

    async def consolidate(self) -> None:
        """Drop each entry whose removal loses nothing on OPTIMIZE and then nothing on CONFIRM.

        The last one was measured against all others when it was promoted: it is tried only where
        one of them was dropped.
        """
        state = self.state
        entries = state.stack.entries
        for entry in entries:
            if entry is entries[-1] and state.stack.entries == entries:
                break
            without = state.stack.without(entry)
            after = await state.evaluate("consolidation", without, "optimize")
            optimize = PairedOutcomes(state.optimize, after)
            net, failed = None, False
            if optimize.net >= 0:
                pairs, _ = await self.analyses.analyse(state.stack, without, state.splits.confirm)
                net, failed = pairs.net, any(o.error for o in pairs.before)
            said = state.log.emit(
                "stack.consolidated",
                {
                    "candidate": entry.digest,
                    "before": state.stack.digest,
                    "after": without.digest,
                    "optimize_net": optimize.net,
                    "confirm_net": net,
                    # What failed with the entry does not show that nothing is lost without it.
                    "removed": net is not None and net >= 0 and not failed,
                },
            )
            if said["removed"]:
                state.stack, state.optimize = without, after
                state.results.removed(entry)

    def _diff(
        self, draft: Draft, after: Stack, split: str, judged: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Write what a candidate changed on a split."""
        return self.state.log.emit(
            "transform.eval_diff",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "split": split,
                "regime": draft.route.regime,
                "before": self.state.stack.digest,
                "after": after.digest,
                **judged,
            },
        )

    def _discard(
        self, candidate: Candidate | None, number: int, route: Route, stage: str, reason: str
    ) -> None:
        self.state.log.emit(
            "transform.discarded",
            {
                "number": number,
                "candidate": candidate.digest if candidate else None,
                "regime": route.regime,
                "stage": stage,
                "reason": reason,
            },
        )
        if candidate is not None:
            self.drafting.remember(candidate, f"{stage}: {reason}")
        self.state.results.discarded(number, candidate, route, stage, reason)


def _acted(draft: Draft, pairs: PairedOutcomes) -> dict[str, Any]:
    """Where a draft is an operator, what it did."""
    if draft.candidate.seam != SEAM:
        return {}
    return {SEAM: reading(pairs.before, pairs.after)}
