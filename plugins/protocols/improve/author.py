"""From a route to a candidate: what the author is asked, what it answers, and the static gate."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.contracts import Assignment, Author, Failure, Outcome, Route, Target
from framework.contracts.improve import Tried
from framework.errors import StopRun
from framework.models.client import Ledger, ModelClient, track_usage
from framework.text.canonical import digest
from plugins.protocols.improve import operators
from plugins.protocols.improve.code import probe
from plugins.protocols.improve.evaluator import spent
from plugins.protocols.improve.events import EventLog
from plugins.protocols.improve.seams import SIGNALS
from plugins.protocols.improve.settings import ImproveSettings
from plugins.protocols.improve.stack import Candidate, Rejected, Stack, read_candidate

_KEPT = 200
"""Earlier drafts that an author is told of."""
_QUOTED = 500
"""Characters of a draft that was none of which its author is told again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft that the static gate let through."""

    number: int
    route: Route
    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A draft that a gate refused before it was measured."""

    number: int
    stage: str
    reason: str
    candidate: Candidate | None = None


@dataclass(slots=True)
class Drafting:
    """Asks the author, and keeps what was tried since the stack last changed.

    asked, drafted : so far. tokens, cost_usd : spent on it.
    """

    author: Author[Any]
    target: Target[Any]
    client: ModelClient
    log: EventLog
    settings: ImproveSettings
    seed: int
    asked: int = 0
    drafted: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    _tried: dict[str, Tried] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def forget(self) -> None:
        """The stack changed: what was tried under another may be tried again."""
        self._tried.clear()
        self._seen.clear()

    def remember(self, candidate: Candidate, reason: str) -> None:
        """Note what became of a candidate."""
        found = Tried(seam=candidate.seam, payload=candidate.payload, reason=reason[:200])
        self._keep(candidate.digest, found)

    def _keep(self, key: str, tried: Tried) -> None:
        self._tried[key] = tried
        while len(self._tried) > _KEPT:
            del self._tried[next(iter(self._tried))]

    async def draft(
        self, route: Route, failures: Sequence[Outcome], stack: Stack
    ) -> Draft | Refused | None:
        """A draft; why a gate refused it; None where the author has none."""
        number = self.asked
        self.asked += 1
        assignment = self._assignment(route, failures, stack, number)
        answered = self.log.take("author.responded")
        if answered is None:
            answered = self.log.put("author.responded", await self._ask(assignment))
        self.tokens += answered["tokens"]
        self.cost_usd += answered["cost_usd"]
        if answered["text"] is None:
            return None
        self.drafted += 1
        try:
            candidate = self._checked(answered, route, stack)
        except Rejected as rejected:
            said = {"seams": list(route.seams), "response": answered["response"]}
            self.log.emit("transform.drafted", {"number": number, "regime": route.regime, **said})
            self.log.emit("transform.static_rejected", {"number": number, "reason": str(rejected)})
            self._remember_refused(answered, rejected)
            return Refused(number=number, stage="static", reason=str(rejected))
        said = {**candidate.plain(), "why": candidate.why[:500]}
        self.log.emit("transform.drafted", {"number": number, "regime": route.regime, **said})
        named = {"number": number, "candidate": candidate.digest}
        self.log.emit("transform.static_passed", named)
        self._seen.add(candidate.digest)
        self.remember(candidate, "drafted; not measured yet")
        if candidate.code is not None:
            wrong = self._probed(candidate.seam, candidate.code, named)
            if wrong:
                return Refused(number=number, stage="sandbox", reason=wrong, candidate=candidate)
        return Draft(number=number, route=route, candidate=candidate)

    def _remember_refused(self, answered: Mapping[str, Any], rejected: Rejected) -> None:
        """Note a draft that the static gate refused, as text unless it was a candidate."""
        if rejected.candidate is not None:
            # Of a duplicate it is known already what became of it, which says more.
            if rejected.candidate.digest not in self._tried:
                self.remember(rejected.candidate, f"static: {rejected}")
        elif answered["text"]:
            reason = f"static: {rejected}"[:200]
            text = answered["text"][:_QUOTED]
            self._keep(answered["response"], Tried(seam="", payload={}, reason=reason, text=text))

    def _probed(self, seam: str, source: str, named: Mapping[str, Any]) -> str:
        """What is wrong with code when it is run once in the sandbox; empty when nothing is."""
        said = self.log.take("transform.sandbox_probed")
        if said is None:
            wrong = probe(seam, source)
            found = {**named, "reason": wrong, "passed": not wrong}
            said = self.log.put("transform.sandbox_probed", found)
        return str(said["reason"])

    def _checked(self, answered: Mapping[str, Any], route: Route, stack: Stack) -> Candidate:
        if answered["error"]:
            raise Rejected(f"the author failed: {answered['error']}")
        candidate = read_candidate(
            answered["text"],
            route.seams,
            self.target.fragments,
            takes_code=self.settings.code,
            installs=self.settings.operators,
        )
        if stack.holds(candidate):
            raise Rejected("duplicate: it is installed already", candidate)
        if candidate.digest in self._seen:
            raise Rejected("duplicate: it was tried on this stack", candidate)
        length = stack.added + candidate.added
        if candidate.added and length > self.settings.prompt_chars:
            raise Rejected(
                f"prompt budget: {length} characters with what is installed, "
                f"{self.settings.prompt_chars} allowed",
                candidate,
            )
        return candidate

    def _assignment(
        self, route: Route, failures: Sequence[Outcome], stack: Stack, number: int
    ) -> Assignment:
        told = self.settings.diagnosis
        meaning = next(
            (r.meaning for r in self.target.taxonomy.regimes if r.name == route.regime), ""
        )
        shown = failures[: self.settings.shown_failures] if told else ()
        installed = [
            Tried(seam=entry.seam, payload=entry.payload, reason="installed")
            for entry in stack.entries
        ]
        return Assignment(
            regime=route.regime if told else "",
            meaning=meaning if told else "",
            seams=route.seams,
            failures=tuple(
                Failure(question=o.question, view=o.view, answer=o.answer) for o in shown
            ),
            fragments=stack.fragments(self.target.fragments),
            signals=SIGNALS,
            tried=(*installed, *self._tried.values()),
            library=(*self.target.library, *operators.library(self.settings.operators)),
            attempt=number,
            seed=self.seed,
            code=self.settings.code,
            operators=operators.described(self.settings.operators),
            form=operators.form(self.settings.operators),
        )

    async def _ask(self, assignment: Assignment) -> dict[str, Any]:
        """The author's answer as its event holds it: whatever it does, an answer."""
        ledger = Ledger()
        text: Any = ""
        error = ""
        try:
            with track_usage(ledger, "author", assignment.attempt):
                async with asyncio.timeout(self.settings.author_timeout_s):
                    text = await self.author.draft(assignment, self.client)
        except StopRun:
            raise
        except TimeoutError:
            error = "no answer in time"
        except Exception as failed:  # a bad draft like any other: the loop goes on
            error = f"{type(failed).__name__}: {failed}"[:500]
        if text is not None and not isinstance(text, str):
            text, error = "", f"{type(text).__name__} in place of text"
        if text is not None and len(text) > _MOST:
            error = f"{len(text)} characters"
            text = text[:_MOST]
        asked = {
            f.name: getattr(assignment, f.name)
            for f in dataclasses.fields(assignment)
            if f.name != "library"  # fixed; its digest stands in loop.start
            # What came later says nothing where it is not used, so that older loops keep theirs.
            and (f.name not in ("operators", "form") or assignment.operators)
        }
        return {
            "number": assignment.attempt,
            "assignment": digest(asked),
            "text": text,
            "response": digest(text),
            "error": error,
            **spent(ledger.usage()),
        }


_MOST = 30_000
"""Characters of an answer that are kept; the static gate reads fewer."""
