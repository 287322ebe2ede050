"""The loop: diagnose, route, draft, gate, promote or discard; then TEST, once.

It is a deterministic function of what was measured and what the author answered (see `events`), and
it names no target, author, routing or gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.canonical import digest
from framework.contracts import Bound, Diagnosis, Gate, Outcome, Route, Routing, RowKey, Target
from framework.errors import UserError
from framework.improve.drafting import Draft, Drafting
from framework.improve.events import EventLog
from framework.improve.flips import Flips, flips, judge_optimize
from framework.improve.looks import Looks
from framework.improve.measure import Bench, Task
from framework.improve.plateau import Plateau, least_net_flips
from framework.improve.regimes import histogram
from framework.improve.results import Results
from framework.improve.sealed import Sealed
from framework.improve.settings import ImproveSettings
from framework.improve.splits import Splits, split
from framework.improve.stack import Candidate, Stack
from framework.pipeline import Pipeline, Record
from framework.records import Case, Row
from framework.sandbox import require

__all__ = ["Loop"]


@dataclass(slots=True, kw_only=True)
class _State:
    """Where the loop stands."""

    stack: Stack = field(default_factory=Stack)
    optimize: tuple[Outcome, ...] = ()
    confirm: tuple[Outcome, ...] = ()
    attempts: dict[str, int] = field(default_factory=dict)
    promotions: int = 0
    silent: int = 0
    """Times in a row that the author had nothing to propose."""


class Loop:
    """One loop over one pipeline. Raises UserError where the pool has too few cases."""

    def __init__(self, settings: ImproveSettings, bound: Bound, pipeline: Pipeline) -> None:
        self.settings = settings
        self.bound = bound
        self.target: Target[Any] = bound.parts["target"]
        self.routing: Routing[Any] = bound.parts["routing"]
        self.gate: Gate[Any] = bound.parts["gate"]
        self.domain = pipeline.domain
        self.log = EventLog(bound)
        self.bench = Bench(pipeline, self.target, self.log, settings.memories)
        self.bench.rewards = settings.rewards
        self.drafting = Drafting(
            bound.parts["author"], self.target, pipeline.client, self.log, settings, bound.seed
        )
        generates = self.target.generates(self.domain)
        fresh = settings.fresh_confirm == "always" or (
            settings.fresh_confirm == "auto" and generates
        )
        if settings.code:
            require()
        if fresh and not generates:
            raise UserError("protocol.fresh_confirm: the domain can not generate cases")
        self.looks = Looks(self.bench, self.gate, self.domain, fresh=fresh, seed=bound.seed)
        self.state = _State()
        self.results = Results(self.target.taxonomy, self.target.variants)

    async def run(self, done: frozenset[RowKey]) -> AsyncIterator[tuple[Row, Record]]:
        """The loop, then the rows of the final stack on TEST, leaving out the keys in `done`."""
        splits = await self._begin()
        reason = await self._improve()
        if self.settings.consolidate and len(self.state.stack.entries) > 1:
            await self._consolidate(splits)
        stopped = self.log.emit("loop.stopped", self._stopped(reason))
        self.results.stopped(stopped, self.state.stack)
        final = self.state.confirm
        if self.state.stack.entries:
            final = await self._evaluate("final", self.state.stack, "confirm", splits.confirm)
        self.results.pairs("confirm", flips(self.state.confirm, final), self.bound.seed)
        stack = self.state.stack
        self.bench.rewards = "truth"
        sealed = Sealed(self.bench, self.log, self.target, self.results, self.bound.seed)
        async for row, record in sealed.open(stack, splits, done):
            yield row, record
        if self.settings.whole_pool:
            await sealed.rest(stack, splits)
        await sealed.shifted(stack, self.domain, self.settings.test)
        self.results.spent(
            evaluations=(self.bench.tokens, self.bench.cost_usd),
            author=(self.drafting.tokens, self.drafting.cost_usd),
        )

    # ------------------------------------------------------------------------------------ the start

    async def _begin(self) -> Splits[Case]:
        taxonomy = self.target.taxonomy
        start = self.log.emit(
            "loop.start",
            {
                "target": self.target.name,
                "author": self.bound.parts["author"].name,
                "routing": self.routing.name,
                "gate": self.gate.name,
                "settings": digest(self.bound.settings),
                "seed": self.bound.seed,
                "taxonomy": taxonomy.name,
                "routes": {r.name: list(r.seams) for r in taxonomy.regimes},
                "seams": list(self.target.seams),
                "fragments": dict(self.target.fragments),
                "library": digest([[p.id, p.seam, p.payload] for p in self.target.library]),
                "fresh_confirm": self.looks.fresh,
            },
        )
        splits = self._split()
        state = self.state
        state.optimize = await self._diagnose(splits)
        errors, n = [o.error for o in state.optimize if o.error], len(state.optimize)
        if 2 * len(errors) > n:
            raise UserError(
                f"the bare pipeline fails on {len(errors)} of {n} cases: there is nothing to "
                f"improve; the last: {errors[-1]}"
            )
        state.confirm = await self._evaluate("baseline", state.stack, "confirm", splits.confirm)
        self.log.emit(
            "baseline.recorded",
            {
                "stack": state.stack.digest,
                "optimize": _accuracy(state.optimize),
                "confirm": _accuracy(state.confirm),
            },
        )
        again = await self._evaluate("noise", state.stack, "confirm", splits.confirm, sample=1)
        noise = flips(state.confirm, again)
        discordant = len(noise.fixed) + len(noise.broken)
        said = self.log.emit(
            "noise.recorded",
            {
                "discordant": discordant,
                "net": noise.net,
                "least_net_flips": least_net_flips(discordant, self.settings.min_net_flips),
            },
        )
        self.plateau = Plateau(least=said["least_net_flips"], patience=self.settings.patience)
        self.splits = splits
        self.results.started(start, splits, state.optimize, state.confirm, said)
        return splits

    def _split(self) -> Splits[Case]:
        pool = list(self.domain.cases(self.settings.pool, self.bound.seed))
        kinds = [self.target.kind(c) + "/abstain" * self.target.abstains(c) for c in pool]
        s = self.settings
        try:
            parts = split(pool, kinds, (s.optimize, s.confirm, s.test), self.bound.seed)
        except ValueError as error:
            raise UserError(f"protocol: the domain's pool is too small: {error}") from None
        kind_of = dict(zip((case.id for case in pool), kinds, strict=True))
        named = {"optimize": parts.optimize, "confirm": parts.confirm, "test": parts.test}
        self.log.emit(
            "split.made",
            {
                "pool": len(pool),
                "optimize": [c.id for c in parts.optimize],
                "confirm": [c.id for c in parts.confirm],
                "test": {"n": len(parts.test), "digest": digest([c.id for c in parts.test])},
                "strata": {n: Counter(kind_of[c.id] for c in p) for n, p in named.items()},
            },
            given=True,
        )
        return parts

    # -------------------------------------------------------------------------------- the iteration

    async def _improve(self) -> str:
        """Try until there is nothing to try; the reason why it stopped."""
        state, s = self.state, self.settings
        while True:
            counts = histogram(self.target.taxonomy, state.optimize)
            reachable = [r for r in counts if self._seams(r)]
            open_ = tuple(r for r in reachable if state.attempts.get(r, 0) < s.max_attempts)
            if state.attempts.get("", 0) >= s.max_attempts * len(reachable):
                open_ = ()
            self.log.emit(
                "regime.histogram",
                {
                    "stack": state.stack.digest,
                    "failures": counts,
                    "walls": [r for r in counts if not self._seams(r)],
                    "open": list(open_),
                },
            )
            if not reachable:
                return "no_failure_that_a_seam_reaches"
            if self.plateau.reached:
                return "plateau"
            if s.max_promotions is not None and state.promotions >= s.max_promotions:
                return "max_promotions"
            if self.drafting.asked >= s.max_candidates:
                return "max_candidates"
            if open_ and state.silent >= 2 * len(open_):  # a regime has two seams at most in turn
                return "author_has_nothing_more"
            route = self.routing.choose(
                Diagnosis(
                    taxonomy=self.target.taxonomy,
                    histogram=counts,
                    open=open_,
                    attempts=state.attempts,
                    seams=self.target.seams,
                    seed=self.bound.seed,
                    attempt=self.drafting.asked,
                )
            )
            if route is None:
                return "all_reachable_regimes_exhausted"
            said = self.log.emit(
                "route.chosen",
                {
                    "regime": route.regime,
                    "seams": list(route.seams),
                    "attempt": state.attempts.get(route.regime, 0),
                },
            )
            route = Route(regime=said["regime"], seams=tuple(said["seams"]))
            await self._attempt(route)

    async def _attempt(self, route: Route) -> None:
        """One attempt for a regime: drafts, the best of them through the gates."""
        state = self.state
        state.attempts[route.regime] = state.attempts.get(route.regime, 0) + 1
        failures = [
            o
            for o in state.optimize
            if not o.correct
            and (not route.regime or self.target.taxonomy.regime_of(o) == route.regime)
        ]
        routes = [route] * self.settings.best_of
        if self.routing.probes:
            routes = [Route(regime=route.regime, seams=(seam,)) for seam in route.seams]
        tried: list[tuple[Draft, Mapping[str, Any]]] = []
        for each in routes:
            draft = await self.drafting.draft(each, failures, state.stack)
            state.silent = state.silent + 1 if draft is None else 0
            if isinstance(draft, Draft):
                tried.append((draft, await self._optimize(draft)))
            elif draft is not None:
                number = self.drafting.asked - 1
                self._discard(draft.candidate, number, route, draft.stage, draft.reason)
        tried.sort(key=lambda pair: (-pair[1]["net"], pair[0].number))
        for draft, diff in tried[1:]:
            self._discard(draft.candidate, draft.number, route, "best_of", "another gained more")
            self.results.measured(draft.number, diff)
        for draft, diff in tried[:1]:
            self.results.measured(draft.number, diff)
            if not diff["passed"]:
                self._discard(draft.candidate, draft.number, route, "optimize", diff["reason"])
            else:
                await self._confirm(draft)

    async def _optimize(self, draft: Draft) -> Mapping[str, Any]:
        """Measure a candidate on OPTIMIZE against the installed stack, and judge it."""
        stack = self.state.stack.plus(draft.candidate)
        after = await self._evaluate("optimize", stack, "optimize", self.splits.optimize)
        floor = getattr(self.gate.settings, "per_type_floor", None)
        judged = judge_optimize(
            flips(self.state.optimize, after), self.target.taxonomy, draft.route.regime, floor
        )
        return self.log.emit(
            "transform.eval_diff",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "split": "optimize",
                "regime": draft.route.regime,
                "before": self.state.stack.digest,
                "after": stack.digest,
                **judged,
            },
        )

    async def _confirm(self, draft: Draft) -> None:
        """A look at CONFIRM: stack and stack with the candidate, both measured now."""
        state = self.state
        stack = state.stack.plus(draft.candidate)
        pairs, clusters = await self.looks.look(state.stack, stack, self.splits.confirm)
        judged = self.looks.judged(pairs, clusters)
        # An open gate judges nothing: flips that it does not look at can not stop the loop either.
        enough = not judged["judged"] or self.plateau.enough(pairs.net)
        passed = judged["gate_passed"] and enough
        reason = "" if passed else judged["reason"]
        if judged["gate_passed"] and not enough:
            reason = f"net flips {pairs.net}, fewer than the {self.plateau.least} that count"
        diff = self.log.emit(
            "transform.eval_diff",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "split": "confirm",
                "regime": draft.route.regime,
                "before": state.stack.digest,
                "after": stack.digest,
                "fixed": pairs.fixed,
                "broken": pairs.broken,
                "net": pairs.net,
                "by_kind": pairs.by_kind(),
                **judged,
                "passed": passed,
                "reason": reason,
            },
        )
        if diff["judged"]:
            self.plateau.look(diff["net"])
        self.results.looked(draft.number, diff)
        if diff["passed"]:
            await self._promote(draft, stack, pairs)
        else:
            stage = "plateau" if diff["gate_passed"] else "confirm"
            self._discard(draft.candidate, draft.number, draft.route, stage, diff["reason"])

    async def _promote(self, draft: Draft, stack: Stack, pairs: Flips) -> None:
        state = self.state
        self.log.emit(
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
        self.log.emit(
            "attribution.recorded",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "by_regime": pairs.by_regime(self.target.taxonomy),
                "by_kind": pairs.by_kind(),
            },
        )
        state.stack = stack
        state.promotions += 1
        state.attempts.clear()
        self.drafting.forget()
        after = pairs.after
        if self.looks.fresh:
            after = await self._evaluate("trajectory", stack, "confirm", self.splits.confirm)
        self.results.promoted(draft, flips(state.confirm, after))
        state.optimize = await self._diagnose(self.splits)

    async def _consolidate(self, splits: Splits[Case]) -> None:
        """Drop each entry whose removal loses nothing on OPTIMIZE and then nothing on CONFIRM."""
        state = self.state
        for entry in state.stack.entries[:-1]:
            without = state.stack.without(entry)
            after = await self._evaluate("consolidate", without, "optimize", splits.optimize)
            optimize = flips(state.optimize, after)
            net = None
            if optimize.net >= 0:
                pairs, _ = await self.looks.look(state.stack, without, splits.confirm)
                net = pairs.net
            said = self.log.emit(
                "stack.consolidated",
                {
                    "candidate": entry.digest,
                    "before": state.stack.digest,
                    "after": without.digest,
                    "optimize_net": optimize.net,
                    "confirm_net": net,
                    "removed": net is not None and net >= 0,
                },
            )
            if said["removed"]:
                state.stack, state.optimize = without, after
                self.results.removed(entry)

    # -------------------------------------------------------------------------------------- helpers

    async def _evaluate(
        self, purpose: str, stack: Stack, name: str, cases: Sequence[Case], sample: int = 0
    ) -> tuple[Outcome, ...]:
        task = Task(purpose=purpose, stack=stack, split=name, cases=cases, sample=sample)
        return await self.bench.evaluate(task)

    async def _diagnose(self, splits: Splits[Case]) -> tuple[Outcome, ...]:
        """The installed stack on OPTIMIZE, with what an author may be shown of its failures."""
        return await self.bench.evaluate(
            Task(
                purpose="diagnose",
                stack=self.state.stack,
                split="optimize",
                cases=splits.optimize,
                shown=self.settings.shown_chars,
            )
        )

    def _discard(
        self, candidate: Candidate | None, number: int, route: Route, stage: str, reason: str
    ) -> None:
        self.log.emit(
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
        self.results.discarded(number, candidate, route, stage, reason)

    def _stopped(self, reason: str) -> dict[str, Any]:
        state = self.state
        counts = histogram(self.target.taxonomy, state.optimize)
        cap = self.settings.max_attempts
        return {
            "reason": reason,
            "stack": state.stack.digest,
            "entries": [e.digest for e in state.stack.entries],
            "exhausted": [r for r in counts if state.attempts.get(r, 0) >= cap],
            "walls": [r for r in counts if not self._seams(r)],
            "failures": counts,
            "asked": self.drafting.asked,
            "drafts": self.drafting.drafted,
            "promotions": state.promotions,
            "looks": self.looks.count,
        }

    def _seams(self, regime: str) -> tuple[str, ...]:
        return tuple(s for s in self.target.taxonomy.seams_of(regime) if s in self.target.seams)


def _accuracy(outcomes: Sequence[Outcome]) -> float:
    return sum(o.correct for o in outcomes) / max(1, len(outcomes))
