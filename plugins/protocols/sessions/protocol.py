"""`protocol=sessions`: one task over many turns, each a row; the memory is all that varies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from typing import Annotated, Any, ClassVar, Final

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Interactive, RowKey, RunProtocol
from framework.contracts import Pipeline as Driven
from framework.errors import UserError
from framework.pipeline.path import Pipeline
from framework.records import Case, Row
from framework.registry import register
from plugins.protocols.sessions.next_action import NextAction
from plugins.protocols.sessions.session import Agent, Limits, Session

ENDED: Final = "session.ended"
"""Type of the event that says how a session ended, and after how many turns."""
Pair = tuple[Row, Mapping[str, Any]]
_Key = tuple[str, str, int, int]


@dataclass(frozen=True)
class SessionsSettings(Bounded):
    """What a session may take, and who acts in it.

    turns : at most. tokens : most tokens in and out of a session's turns; the turn that passes it
        is the last. shown : most tokens of all its views together, each of which the budget bounds
        by itself; an unbudgeted arm too is held to it. null: no bound.
    writes : whether what was tried and what came of it is written to memory, which is then asked
        again. k : most items asked of an arm; null for as many as the budget could hold.
    agent : `model`, the run's; or a control, `oracle` (answers the reference at once) or `stubborn`
        (gives one empty answer again and again). Controls ask no model.
    """

    turns: Annotated[int, at_least(1)] = 8
    tokens: Annotated[int | None, at_least(1)] = None
    shown: Annotated[int | None, at_least(1)] = None
    writes: bool = False
    k: Annotated[int | None, at_least(1)] = None
    agent: Agent = "model"

    def identity(self) -> dict[str, Any]:
        """With the prompts of the operation that only sessions ask."""
        return {**asdict(self), "next_action": NextAction().files.digest}


@register("protocol", "sessions")
class Sessions(RunProtocol[SessionsSettings]):
    """Sessions of many turns: act, be answered, ask memory again, until the task is settled.

    The domain says what comes back (`framework.contracts.Interactive`). The sessions of some cases
    go on together, turn by turn, so that a memory is made once. A run that was cut off goes through
    the turns of an unfinished session again: what a model was asked then is in the cache.
    """

    axes: ClassVar[tuple[str, ...]] = ("session_outcome",)
    headline: ClassVar[tuple[str, ...]] = (
        "resolved",
        "resolved_first",
        "turns",
        "session_tokens",
        "successes_per_1000_tokens",
        "cost_to_correct",
    )
    like: ClassVar[str] = "evaluate"
    in_turns: ClassVar[bool] = True

    def check(self, domain: Domain[Any]) -> None:
        if not isinstance(domain, Interactive):
            raise UserError(
                f"protocol={self.name}: domain {domain.name} does not say what comes back to an "
                "answer, so that there are no turns to take"
            )

    async def drive(
        self, pipeline: Driven, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[Pair]:
        assert isinstance(pipeline, Pipeline)
        over = self._over(done)
        open_ = (s for s in self._sessions(pipeline, cases) if _key(pipeline, *s) not in over)
        while together := list(islice(open_, max(_TOGETHER, pipeline.places))):
            async for pair in self._through(pipeline, together, done):
                yield pair

    async def _through(
        self,
        pipeline: Pipeline,
        together: list[tuple[Session, int, int]],
        done: frozenset[RowKey],
    ) -> AsyncIterator[Pair]:
        """All turns of some sessions: the first of each, then the second of those that go on."""
        left = {_key(pipeline, *each): each for each in together}
        while left and not pipeline.cancel.cancelled:
            async for row, record in pipeline.bounded(self._turns(pipeline, left)):
                session = left[row.key[:4]][0]
                if row.key not in done:
                    timing = {**row.timing, "environment_s": session.environment_s}
                    yield replace(row, timing=timing), record
                if session.ended or row.error or row.state:
                    del left[row.key[:4]]
                    self.context.write(ENDED, _ended(row, session))
                else:
                    session.begin()

    def _turns(
        self, pipeline: Pipeline, left: Mapping[_Key, tuple[Session, int, int]]
    ) -> Iterator[Callable[[], Coroutine[Any, Any, Pair]]]:
        for session, trial, repeat in list(left.values()):
            yield partial(
                pipeline.turn,
                session.case,
                session,
                trial=trial,
                repeat=repeat,
                k=self.settings.k,
            )

    def _sessions(
        self, pipeline: Pipeline, cases: Iterable[Case]
    ) -> Iterator[tuple[Session, int, int]]:
        """A session for each case, trial and repeat."""
        settings, domain = self.settings, pipeline.domain
        assert isinstance(domain, Interactive)
        limits = Limits(turns=settings.turns, tokens=settings.tokens, shown=settings.shown)
        for case in cases:
            for trial in range(pipeline.trials):
                for repeat in range(pipeline.repeats):
                    session = Session(
                        case=case,
                        domain=domain,
                        reader=pipeline.reader,
                        agent=settings.agent,
                        limits=limits,
                        writes=settings.writes,
                    )
                    yield session, trial, repeat

    def _over(self, done: frozenset[RowKey]) -> set[_Key]:
        """The sessions whose end and whose every turn the journal holds."""
        over = set()
        for type_, payload in self.context.recorded:
            if type_ == ENDED:
                key = (payload["case_id"], payload["arm"], payload["trial"], payload["repeat"])
                if all((*key, n) in done for n in range(payload["turns"])):
                    over.add(key)
        return over


_TOGETHER: Final = 32
"""Sessions that go on together at the least."""


def _key(pipeline: Pipeline, session: Session, trial: int, repeat: int) -> _Key:
    return session.case.id, pipeline.arm, trial, repeat


def _ended(row: Row, session: Session) -> dict[str, Any]:
    how = session.ended or ("error" if row.error else row.state)
    of = {name: getattr(row, name) for name in ("case_id", "arm", "trial", "repeat")}
    return {**of, "turns": row.turn + 1, "ended": how}
