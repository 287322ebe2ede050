"""One attempt: drafts for a route, the best of them through the gates, promoted or discarded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.contracts import Gate, Route
from framework.improve.course import Course
from framework.improve.drafting import Draft, Drafting
from framework.improve.flips import Flips, flips, judge_optimize
from framework.improve.looks import Looks
from framework.improve.stack import Candidate, Stack

__all__ = ["Attempts"]


class Attempts:
    """Tries drafts on the installed stack. `probes`: a draft at each seam of a route."""

    def __init__(
        self, course: Course, drafting: Drafting, looks: Looks, gate: Gate[Any], *, probes: bool
    ) -> None:
        self._course = course
        self._drafting = drafting
        self._looks = looks
        self._gate = gate
        self._probes = probes

    async def run(self, route: Route) -> None:
        """One attempt for a regime: drafts, the best of them through the gates."""
        course = self._course
        course.attempts[route.regime] = course.attempts.get(route.regime, 0) + 1
        failures = [
            o
            for o in course.optimize
            if not o.correct
            and (not route.regime or course.target.taxonomy.regime_of(o) == route.regime)
        ]
        routes = [route] * course.settings.best_of
        if self._probes:
            routes = [Route(regime=route.regime, seams=(seam,)) for seam in route.seams]
        tried: list[tuple[Draft, Mapping[str, Any]]] = []
        for each in routes:
            draft = await self._drafting.draft(each, failures, course.stack)
            course.silent = course.silent + 1 if draft is None else 0
            if isinstance(draft, Draft):
                tried.append((draft, await self._optimize(draft)))
            elif draft is not None:
                number = self._drafting.asked - 1
                self._discard(draft.candidate, number, route, draft.stage, draft.reason)
        tried.sort(key=lambda pair: (-pair[1]["net"], pair[0].number))
        for draft, diff in tried[1:]:
            self._discard(draft.candidate, draft.number, route, "best_of", "another gained more")
            course.results.measured(draft.number, diff)
        for draft, diff in tried[:1]:
            course.results.measured(draft.number, diff)
            if not diff["passed"]:
                self._discard(draft.candidate, draft.number, route, "optimize", diff["reason"])
            else:
                await self._confirm(draft)

    async def _optimize(self, draft: Draft) -> Mapping[str, Any]:
        """Measure a candidate on OPTIMIZE against the installed stack, and judge it."""
        course = self._course
        stack = course.stack.plus(draft.candidate)
        after = await course.evaluate("optimize", stack, "optimize", course.splits.optimize)
        floor = getattr(self._gate.settings, "per_type_floor", None)
        judged = judge_optimize(
            flips(course.optimize, after), course.target.taxonomy, draft.route.regime, floor
        )
        return course.log.emit(
            "transform.eval_diff",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "split": "optimize",
                "regime": draft.route.regime,
                "before": course.stack.digest,
                "after": stack.digest,
                **judged,
            },
        )

    async def _confirm(self, draft: Draft) -> None:
        """A look at CONFIRM: stack and stack with the candidate, both measured now."""
        course = self._course
        stack = course.stack.plus(draft.candidate)
        pairs, clusters = await self._looks.look(course.stack, stack, course.splits.confirm)
        judged = self._looks.judged(pairs, clusters)
        # An open gate judges nothing: flips that it does not look at can not stop the loop either.
        enough = not judged["judged"] or course.plateau.enough(pairs.net)
        passed = judged["gate_passed"] and enough
        reason = "" if passed else judged["reason"]
        if judged["gate_passed"] and not enough:
            reason = f"net flips {pairs.net}, fewer than the {course.plateau.least} that count"
        diff = course.log.emit(
            "transform.eval_diff",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "split": "confirm",
                "regime": draft.route.regime,
                "before": course.stack.digest,
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
            course.plateau.look(diff["net"])
        course.results.looked(draft.number, diff)
        if diff["passed"]:
            await self._promote(draft, stack, pairs)
        else:
            stage = "plateau" if diff["gate_passed"] else "confirm"
            self._discard(draft.candidate, draft.number, draft.route, stage, diff["reason"])

    async def _promote(self, draft: Draft, stack: Stack, pairs: Flips) -> None:
        course = self._course
        course.log.emit(
            "transform.promoted",
            {
                "number": draft.number,
                **draft.candidate.plain(),
                "before": course.stack.digest,
                "after": stack.digest,
                "stack": [e.digest for e in stack.entries],
                "prompt_chars": stack.added,
            },
        )
        course.log.emit(
            "attribution.recorded",
            {
                "number": draft.number,
                "candidate": draft.candidate.digest,
                "by_regime": pairs.by_regime(course.target.taxonomy),
                "by_kind": pairs.by_kind(),
            },
        )
        course.stack = stack
        course.promotions += 1
        course.attempts.clear()
        self._drafting.forget()
        after = pairs.after
        if self._looks.fresh:
            after = await course.evaluate("trajectory", stack, "confirm", course.splits.confirm)
        course.results.promoted(draft, flips(course.confirm, after))
        course.optimize = await course.diagnose()

    async def consolidate(self) -> None:
        """Drop each entry whose removal loses nothing on OPTIMIZE and then nothing on CONFIRM.

        The last one was measured against all others when it was promoted: it is tried only where
        one of them was dropped.
        """
        course = self._course
        entries = course.stack.entries
        for entry in entries:
            if entry is entries[-1] and course.stack.entries == entries:
                break
            without = course.stack.without(entry)
            after = await course.evaluate(
                "consolidate", without, "optimize", course.splits.optimize
            )
            optimize = flips(course.optimize, after)
            net = None
            if optimize.net >= 0:
                pairs, _ = await self._looks.look(course.stack, without, course.splits.confirm)
                net = pairs.net
            said = course.log.emit(
                "stack.consolidated",
                {
                    "candidate": entry.digest,
                    "before": course.stack.digest,
                    "after": without.digest,
                    "optimize_net": optimize.net,
                    "confirm_net": net,
                    "removed": net is not None and net >= 0,
                },
            )
            if said["removed"]:
                course.stack, course.optimize = without, after
                course.results.removed(entry)

    def _discard(
        self, candidate: Candidate | None, number: int, route: Route, stage: str, reason: str
    ) -> None:
        course = self._course
        course.log.emit(
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
            self._drafting.remember(candidate, f"{stage}: {reason}")
        course.results.discarded(number, candidate, route, stage, reason)
