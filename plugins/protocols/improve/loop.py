"""The loop: diagnose, route, draft, gate, promote or discard; then TEST, once.

It is a deterministic function of what was measured and what the author answered (see `events`), and
it names no target, author, routing or gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from typing import Any

from framework.contracts import Diagnosis, Gate, ProtocolContext, Route, Routing, RowKey, Target
from framework.contracts.improve import SPLIT_MADE
from framework.errors import UserError
from framework.pipeline.path import Pipeline, Record
from framework.records import Case, Row
from framework.sandbox import require
from framework.text.canonical import digest
from plugins.protocols.improve import operators
from plugins.protocols.improve.attempt import Attempts, LoopState
from plugins.protocols.improve.author import Drafting
from plugins.protocols.improve.evaluator import Evaluator
from plugins.protocols.improve.events import EventLog
from plugins.protocols.improve.gates import InterimAnalyses, Plateau, measure_noise
from plugins.protocols.improve.heldout import HeldOutTest
from plugins.protocols.improve.results import PairedOutcomes, accuracy, baseline_of, paired
from plugins.protocols.improve.settings import ImproveSettings
from plugins.protocols.improve.splits import Splits, clusters_of, split
from plugins.protocols.improve.stack import library_digest


class Loop:
    """One loop over one pipeline. Raises UserError where the target does not work on its domain."""

    def __init__(
        self, settings: ImproveSettings, context: ProtocolContext, pipeline: Pipeline
    ) -> None:
        self.settings = settings
        self.context = context
        self.target: Target[Any] = context.parts["target"].on(pipeline.domain)
        self.routing: Routing[Any] = context.parts["routing"]
        self.gate: Gate[Any] = context.parts["gate"]
        self.domain = pipeline.domain
        self.log = EventLog(context)
        self.evaluator = Evaluator(
            pipeline,
            self.target,
            self.log,
            keeps=settings.memories,
            rewards=settings.rewards,
            operators=settings.operators,
        )
        self.taxonomy, self.seams = self.target.taxonomy, self.target.seams
        if settings.operators:
            self.taxonomy = operators.reached(self.taxonomy)
            self.seams = (*self.seams, operators.SEAM)
        author, client = context.parts["author"], pipeline.client
        self.drafting = Drafting(author, self.target, client, self.log, settings, context.seed)
        generates = self.target.generates(self.domain)
        fresh = {"always": True, "auto": generates, "never": False}[settings.fresh_confirm]
        if settings.code:
            require()
        if fresh and not generates:
            raise UserError("protocol.fresh_confirm: the domain can not generate cases")
        self.sizes = settings.sizes(self.target.sizes(self.domain))
        self.analyses = InterimAnalyses(
            self.evaluator, self.gate, self.domain, fresh=fresh, seed=context.seed
        )
        self.state: LoopState | None = None

    async def run(self, done: frozenset[RowKey]) -> AsyncIterator[tuple[Row, Record]]:
        """The loop, then the rows of the final stack on TEST, leaving out the keys in `done`."""
        self.state = state = await self._begin()
        attempts = Attempts(
            state, self.drafting, self.analyses, self.gate, probes=self.routing.probes
        )
        reason = await self._improve(state, attempts)
        if self.settings.consolidate and len(state.stack.entries) > 1:
            await attempts.consolidate()
        data, stack, seed = state.results.data, state.stack, self.context.seed
        data["stopped"] = dict(self.log.emit("loop.stopped", self._stopped(state, reason)))
        data["stack"] = stack.plain()
        final = await state.evaluate("final", stack, "confirm") if stack.entries else state.confirm
        pairs, clusters = PairedOutcomes(state.confirm, final), clusters_of(state.splits.confirm)
        data["confirm"] = paired(pairs, clusters, self.target.taxonomy, seed, "confirm")
        test = HeldOutTest(
            self.evaluator, self.log, self.target, stack, state.splits, seed, self.domain.digest()
        )
        async for row, record in test.open(done):
            yield row, record
        if self.settings.whole_pool:
            await test.whole_pool()
        await test.shifted(self.domain, self.sizes.test)
        data |= test.found
        data["spent"] = {
            name: {"tokens": part.tokens, "cost_usd": part.cost_usd}
            for name, part in (("evaluations", self.evaluator), ("author", self.drafting))
        }

    # ------------------------------------------------------------------------------------ the start

    async def _begin(self) -> LoopState:
        """Split the pool, measure the bare pipeline, and measure it again."""
        taxonomy, settings = self.taxonomy, self.settings
        library = (*self.target.library, *operators.library(settings.operators))
        installs = {"operators": list(settings.operators)} if settings.operators else {}
        start = self.log.emit(
            "loop.start",
            {
                "target": self.target.name,
                "author": self.context.parts["author"].name,
                "routing": self.routing.name,
                "gate": self.gate.name,
                "settings": digest(self.context.settings),
                "seed": self.context.seed,
                "taxonomy": taxonomy.name,
                "routes": {r.name: list(r.seams) for r in taxonomy.regimes},
                "seams": list(self.seams),
                "fragments": dict(self.target.fragments),
                "library": library_digest(library),
                "fresh_confirm": self.analyses.fresh,
                **installs,
            },
        )
        splits = self._split()
        state = LoopState(
            settings=settings,
            target=self.target,
            evaluator=self.evaluator,
            log=self.log,
            splits=splits,
            plateau=Plateau(least=settings.min_net_flips, patience=settings.patience),
        )
        await state.diagnose()
        errors, n = [o.error for o in state.optimize if o.error], len(state.optimize)
        if 2 * len(errors) > n:
            raise UserError(
                f"the bare pipeline fails on {len(errors)} of {n} cases: there is nothing to "
                f"improve; the last: {errors[-1]}"
            )
        state.confirm = await state.evaluate("baseline", state.stack, "confirm")
        self.log.emit(
            "baseline.recorded",
            {
                "stack": state.stack.digest,
                "optimize": accuracy(state.optimize),
                "confirm": accuracy(state.confirm),
            },
        )
        noise = self.log.emit(
            "noise.recorded",
            await measure_noise(
                self.evaluator,
                splits.confirm,
                state.confirm,
                settings.min_net_flips,
                settings.noise_repeats,
            ),
        )
        state.plateau.least = noise["least_net_flips"]
        variants = self.target.variants.items()
        state.results.data |= {
            "loop": dict(start),
            "splits": {
                name: len(getattr(splits, name)) for name in ("optimize", "confirm", "test", "rest")
            },
            "baseline": baseline_of(taxonomy, state.optimize, state.confirm),
            "noise": dict(noise),
            "sensitivity": {name: other.histogram(state.optimize) for name, other in variants},
        }
        return state

    def _split(self) -> Splits[Case]:
        s = self.sizes
        pool = list(self.domain.cases(s.pool, self.context.seed))
        for id_, n in Counter(case.id for case in pool).items():
            if n > 1:  # it would be of two splits
                raise UserError(f"domain={self.domain.name}: two cases have the id {id_!r}")
        kinds = [self.target.kind(c) + "/abstain" * self.target.abstains(c) for c in pool]
        try:
            sizes = (s.optimize, s.confirm, s.test)
            clusters = [case.cluster or None for case in pool]
            parts = split(pool, kinds, sizes, self.context.seed, clusters)
        except ValueError as error:
            raise UserError(f"protocol: the domain's pool is too small: {error}") from None
        kind_of = dict(zip((case.id for case in pool), kinds, strict=True))
        named = {"optimize": parts.optimize, "confirm": parts.confirm, "test": parts.test}
        ids = {name: [case.id for case in part] for name, part in named.items()}
        self.log.emit(
            SPLIT_MADE,
            {
                "pool": len(pool),
                **ids,
                "test": {"n": len(parts.test), "digest": digest(ids["test"])},
                "strata": {name: Counter(map(kind_of.get, part)) for name, part in ids.items()},
            },
            given=True,
        )
        return parts

    # -------------------------------------------------------------------------------- the iteration

    async def _improve(self, state: LoopState, attempts: Attempts) -> str:
        """Try until there is nothing to try; the reason why it stopped."""
        s = self.settings
        while True:
            counts = self.target.taxonomy.histogram(state.optimize)
            exhausted = self._exhausted(state, counts)
            open_ = tuple(r for r in counts if self._seams(r) and r not in exhausted)
            self.log.emit(
                "regime.histogram",
                {
                    "stack": state.stack.digest,
                    "failures": counts,
                    "walls": [r for r in counts if not self._seams(r)],
                    "open": list(open_),
                },
            )
            if not (open_ or exhausted):
                return "no_failure_that_a_seam_reaches"
            if state.plateau.reached:
                return "plateau"
            if s.max_promotions is not None and state.promotions >= s.max_promotions:
                return "max_promotions"
            if s.max_analyses is not None and self.analyses.count >= s.max_analyses:
                return "max_analyses"
            if self.drafting.asked >= s.max_candidates:
                return "max_candidates"
            # A regime has two seams at most in turn, and that of operators.
            turns = 2 + (operators.SEAM in self.seams)
            if open_ and state.silent >= turns * len(open_):
                return "author_has_nothing_more"
            route = self.routing.choose(
                Diagnosis(
                    taxonomy=self.taxonomy,
                    histogram=counts,
                    open=open_,
                    attempts=state.attempts,
                    seams=self.seams,
                    seed=self.context.seed,
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
            await attempts.run(Route(regime=said["regime"], seams=tuple(said["seams"])))

    def _stopped(self, state: LoopState, reason: str) -> dict[str, Any]:
        counts = self.target.taxonomy.histogram(state.optimize)
        return {
            "reason": reason,
            "stack": state.stack.digest,
            "entries": [e.digest for e in state.stack.entries],
            "exhausted": self._exhausted(state, counts),
            "walls": [r for r in counts if not self._seams(r)],
            "failures": counts,
            "asked": self.drafting.asked,
            "drafts": self.drafting.drafted,
            "promotions": state.promotions,
            "analyses": self.analyses.count,
        }

    def _exhausted(self, state: LoopState, counts: Iterable[str]) -> list[str]:
        """The regimes of `counts` whose attempts are used up; all together where none is named."""
        reachable = [r for r in counts if self._seams(r)]
        attempts, most = state.attempts, self.settings.max_attempts
        if attempts.get("", 0) >= most * len(reachable):
            return reachable
        return [r for r in reachable if attempts.get(r, 0) >= most]

    def _seams(self, regime: str) -> tuple[str, ...]:
        return tuple(s for s in self.taxonomy.seams_of(regime) if s in self.seams)
