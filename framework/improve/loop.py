"""The loop: diagnose, route, draft, gate, promote or discard; then TEST, once.

It is a deterministic function of what was measured and what the author answered (see `events`), and
it names no target, author, routing or gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from framework.contracts import Bound, Diagnosis, Gate, Outcome, Route, Routing, RowKey, Target
from framework.errors import UserError
from framework.improve.attempt import Attempts
from framework.improve.course import Course
from framework.improve.drafting import Drafting
from framework.improve.events import EventLog
from framework.improve.flips import flips
from framework.improve.looks import Looks
from framework.improve.measure import Bench
from framework.improve.noise import record_noise
from framework.improve.plateau import Plateau
from framework.improve.results import Results
from framework.improve.sealed import Sealed
from framework.improve.settings import ImproveSettings
from framework.improve.splits import Splits, clusters_of, split
from framework.improve.stack import library_digest
from framework.pipeline.path import Pipeline, Record
from framework.records import Case, Row
from framework.sandbox import require
from framework.text.canonical import digest

__all__ = ["Loop"]


class Loop:
    """One loop over one pipeline. Raises UserError where the target does not work on its domain."""

    def __init__(self, settings: ImproveSettings, bound: Bound, pipeline: Pipeline) -> None:
        self.settings = settings
        self.bound = bound
        self.target: Target[Any] = bound.parts["target"].on(pipeline.domain)
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
        self.sizes = settings.sizes(self.target.sizes(self.domain))
        self.looks = Looks(self.bench, self.gate, self.domain, fresh=fresh, seed=bound.seed)
        self.results = Results(self.target.taxonomy, self.target.variants)

    async def run(self, done: frozenset[RowKey]) -> AsyncIterator[tuple[Row, Record]]:
        """The loop, then the rows of the final stack on TEST, leaving out the keys in `done`."""
        self.course = course = await self._begin()
        attempts = Attempts(
            course, self.drafting, self.looks, self.gate, probes=self.routing.probes
        )
        reason = await self._improve(attempts)
        if self.settings.consolidate and len(course.stack.entries) > 1:
            await attempts.consolidate()
        stopped = self.log.emit("loop.stopped", self._stopped(reason))
        stack, splits = course.stack, course.splits
        self.results.stopped(stopped, stack)
        final = course.confirm
        if stack.entries:
            final = await course.evaluate("final", stack, "confirm", splits.confirm)
        clusters = clusters_of(splits.confirm)
        self.results.pairs("confirm", flips(course.confirm, final), clusters, self.bound.seed)
        self.bench.rewards = "truth"
        sealed = Sealed(self.bench, self.log, self.target, self.results, self.bound.seed)
        async for row, record in sealed.open(stack, splits, done):
            yield row, record
        if self.settings.whole_pool:
            await sealed.rest(stack, splits)
        await sealed.shifted(stack, self.domain, splits, self.sizes.test)
        self.results.spent(
            evaluations=(self.bench.tokens, self.bench.cost_usd),
            author=(self.drafting.tokens, self.drafting.cost_usd),
        )

    # ------------------------------------------------------------------------------------ the start

    async def _begin(self) -> Course:
        """Split the pool, measure the bare pipeline, and measure it again."""
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
                "library": library_digest(self.target.library),
                "fresh_confirm": self.looks.fresh,
            },
        )
        splits, settings = self._split(), self.settings
        course = Course(
            settings=settings,
            target=self.target,
            bench=self.bench,
            log=self.log,
            results=self.results,
            splits=splits,
            plateau=Plateau(least=settings.min_net_flips, patience=settings.patience),
        )
        course.optimize = await course.diagnose()
        errors, n = [o.error for o in course.optimize if o.error], len(course.optimize)
        if 2 * len(errors) > n:
            raise UserError(
                f"the bare pipeline fails on {len(errors)} of {n} cases: there is nothing to "
                f"improve; the last: {errors[-1]}"
            )
        course.confirm = await course.evaluate("baseline", course.stack, "confirm", splits.confirm)
        self.log.emit(
            "baseline.recorded",
            {
                "stack": course.stack.digest,
                "optimize": _accuracy(course.optimize),
                "confirm": _accuracy(course.confirm),
            },
        )
        said = await record_noise(course, self.domain)
        course.plateau = Plateau(least=said["least_net_flips"], patience=settings.patience)
        self.results.started(start, splits, course.optimize, course.confirm, said)
        return course

    def _split(self) -> Splits[Case]:
        s = self.sizes
        pool = list(self.domain.cases(s.pool, self.bound.seed))
        kinds = [self.target.kind(c) + "/abstain" * self.target.abstains(c) for c in pool]
        try:
            sizes = (s.optimize, s.confirm, s.test)
            clusters = [case.cluster or None for case in pool]
            parts = split(pool, kinds, sizes, self.bound.seed, clusters)
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

    async def _improve(self, attempts: Attempts) -> str:
        """Try until there is nothing to try; the reason why it stopped."""
        course, s = self.course, self.settings
        while True:
            counts = self.target.taxonomy.histogram(course.optimize)
            exhausted = self._exhausted(counts)
            open_ = tuple(r for r in counts if self._seams(r) and r not in exhausted)
            self.log.emit(
                "regime.histogram",
                {
                    "stack": course.stack.digest,
                    "failures": counts,
                    "walls": [r for r in counts if not self._seams(r)],
                    "open": list(open_),
                },
            )
            if not (open_ or exhausted):
                return "no_failure_that_a_seam_reaches"
            if course.plateau.reached:
                return "plateau"
            if s.max_promotions is not None and course.promotions >= s.max_promotions:
                return "max_promotions"
            if self.drafting.asked >= s.max_candidates:
                return "max_candidates"
            if open_ and course.silent >= 2 * len(open_):  # a regime has two seams at most in turn
                return "author_has_nothing_more"
            route = self.routing.choose(
                Diagnosis(
                    taxonomy=self.target.taxonomy,
                    histogram=counts,
                    open=open_,
                    attempts=course.attempts,
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
                    "attempt": course.attempts.get(route.regime, 0),
                },
            )
            route = Route(regime=said["regime"], seams=tuple(said["seams"]))
            await attempts.run(route)

    # -------------------------------------------------------------------------------------- helpers

    def _stopped(self, reason: str) -> dict[str, Any]:
        course = self.course
        counts = self.target.taxonomy.histogram(course.optimize)
        return {
            "reason": reason,
            "stack": course.stack.digest,
            "entries": [e.digest for e in course.stack.entries],
            "exhausted": self._exhausted(counts),
            "walls": [r for r in counts if not self._seams(r)],
            "failures": counts,
            "asked": self.drafting.asked,
            "drafts": self.drafting.drafted,
            "promotions": course.promotions,
            "looks": self.looks.count,
        }

    def _exhausted(self, counts: Iterable[str]) -> list[str]:
        """The regimes of `counts` whose attempts are used up; all together where none is named."""
        reachable = [r for r in counts if self._seams(r)]
        attempts, most = self.course.attempts, self.settings.max_attempts
        if attempts.get("", 0) >= most * len(reachable):
            return reachable
        return [r for r in reachable if attempts.get(r, 0) >= most]

    def _seams(self, regime: str) -> tuple[str, ...]:
        return tuple(s for s in self.target.taxonomy.seams_of(regime) if s in self.target.seams)


def _accuracy(outcomes: Sequence[Outcome]) -> float:
    return sum(o.correct for o in outcomes) / max(1, len(outcomes))
