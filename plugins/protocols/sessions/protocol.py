"""`protocol=sessions`: one task over many turns, each a row; the memory is all that varies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby, islice
from typing import Annotated, Any, ClassVar, Final, Literal

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Guessable, Interactive, RowKey, RunProtocol
from framework.contracts import Pipeline as Driven
from framework.errors import UserError
from framework.pipeline.path import Pipeline
from framework.records import Case, Row
from framework.registry import register
from plugins.protocols.sessions.linked import Linked
from plugins.protocols.sessions.next_action import NextAction
from plugins.protocols.sessions.session import Agent, Limits, Session

ENDED: Final = "session.ended"
"""Type of the event that says how a session ended, and after how many turns."""
REOPENED: Final = "session.reopened"
"""Type of the event that takes such an end back, as its last turn was."""
Pair = tuple[Row, Mapping[str, Any]]
_Key = tuple[str, str, int, int]
_NAMED: Final = ("case_id", "arm", "trial", "repeat")
_Place = tuple[Session, int, int]
"""A session with its trial and repeat."""


@dataclass(frozen=True)
class SessionsSettings(Bounded):
    """What a session may take, and who acts in it.

    turns : at most. tokens : most tokens in and out of a session's turns; the turn that passes it
        is the last. shown : most tokens of all its views together, each of which the budget bounds
        by itself; an unbudgeted arm too is held to it. null: no bound.
    writes : whether what was tried and what came of it is written to memory, which is then asked
        again; of a series of cases, what each of them left too (`Linked`).
    carries : what of the earlier cases of a series stays written: `decisions`, what they left; or
        `all`, what was tried on them too: after a case that failed those of its series fail.
    k : most items asked of an arm; null for as many as the budget could hold.
    agent : `model`, the run's; or a control, `oracle` (answers the reference at once), `stubborn`
        (gives one empty answer again and again) or `guesses` (reads the task and what is said to
        its answers, and no memory). Controls ask no model.
    """

    turns: Annotated[int, at_least(1)] = 8
    tokens: Annotated[int | None, at_least(1)] = None
    shown: Annotated[int | None, at_least(1)] = None
    writes: bool = False
    carries: Literal["decisions", "all"] = "decisions"
    k: Annotated[int | None, at_least(1)] = None
    agent: Agent = "model"

    def identity(self) -> dict[str, Any]:
        """With the prompts of the operation that only sessions ask.

        `carries` only where it is not the default, which every run of before it had.
        """
        found = {**asdict(self), "next_action": NextAction().files.digest}
        if self.carries == "decisions":
            del found["carries"]
        return found


@register("protocol", "sessions")
class Sessions(RunProtocol[SessionsSettings]):
    """Sessions of many turns: act, get feedback, ask memory again, until the task is settled.

    The domain says what comes back (`framework.contracts.Interactive`). The sessions of some cases
    go on together, turn by turn, so that a memory is made once; cases of a series come one after
    the other (`Linked`). A run that was cut off goes through the turns of an unfinished session, or
    series, again: what a model was asked then is in the cache.
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
                f"protocol={self.name}: domain {domain.name} gives no feedback on an answer, so "
                "there are no turns to take"
            )
        if self.settings.agent == "guesses" and not isinstance(domain, Guessable):
            raise UserError(f"protocol.agent=guesses: domain {domain.name} can't make guesses")

    async def drive(
        self, pipeline: Driven, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[Pair]:
        assert isinstance(pipeline, Pipeline)
        ended = self._ended(done)
        most = pipeline.places
        if not isinstance(pipeline.domain, Linked):  # whose series have a history each
            most = max(_TOGETHER, most)
        open_ = (
            series
            for series in self._series(pipeline, cases)
            if not all(_over(_key(pipeline, *one), ended, done) for one in series)
        )
        while together := list(islice(open_, most)):
            async for pair in self._through(pipeline, together, done, ended):
                yield pair

    async def _through(
        self,
        pipeline: Pipeline,
        together: list[list[_Place]],
        done: frozenset[RowKey],
        ended: Mapping[_Key, int],
    ) -> AsyncIterator[Pair]:
        """All turns of some series: one of the session that each is at, then the next of each."""
        left = {_key(pipeline, *series[0]): series for series in together}
        while left and not pipeline.cancel.cancelled:
            async for row, record in pipeline.bounded(self._turns(pipeline, left)):
                key = row.key[:4]
                session = left[key][0][0]
                if row.key not in done:
                    yield replace(row, timing=_timing(row, session)), record
                if not (session.ended or row.error or row.state):
                    session.begin()
                    continue
                if key not in ended:
                    self.context.write(ENDED, _ended(row, session))
                _, *rest = left.pop(key)
                if rest:
                    rest[0][0].follow(session, self.settings.carries, failed=bool(row.error))
                    left[_key(pipeline, *rest[0])] = rest

    def _turns(
        self, pipeline: Pipeline, left: Mapping[_Key, list[_Place]]
    ) -> Iterator[Callable[[], Coroutine[Any, Any, Pair]]]:
        for (session, trial, repeat), *_ in list(left.values()):
            yield partial(
                pipeline.turn,
                session.case,
                session,
                trial=trial,
                repeat=repeat,
                k=self.settings.k,
            )

    def _series(self, pipeline: Pipeline, cases: Iterable[Case]) -> Iterator[list[_Place]]:
        """Sessions that follow each other: those of a series, and any other alone."""
        domain = pipeline.domain
        if isinstance(domain, Linked):
            moved = (replace(case, history_id=domain.opened(case)) for case in cases)
            groups = (tuple(own) for _, own in groupby(moved, key=domain.series))
        else:
            groups = ((case,) for case in cases)
        for group in groups:
            for trial in range(pipeline.trials):
                for repeat in range(pipeline.repeats):
                    yield [(self._session(pipeline, case), trial, repeat) for case in group]

    def _session(self, pipeline: Pipeline, case: Case) -> Session:
        settings, domain = self.settings, pipeline.domain
        assert isinstance(domain, Interactive)
        return Session(
            case=case,
            domain=domain,
            reader=pipeline.reader,
            agent=settings.agent,
            limits=Limits(turns=settings.turns, tokens=settings.tokens, shown=settings.shown),
            writes=settings.writes,
        )

    def _ended(self, done: frozenset[RowKey]) -> dict[_Key, int]:
        """The sessions whose end the journal holds, and their turns.

        An end whose last turn failed and was taken back is no more, and the journal says so.
        """
        ended: dict[_Key, int] = {}
        for type_, said in self.context.recorded:
            if type_ == ENDED:
                ended[_named(said)] = said["turns"]
            elif type_ == REOPENED:
                ended.pop(_named(said), None)
        for key in [key for key, turns in ended.items() if (*key, turns - 1) not in done]:
            self.context.write(REOPENED, dict(zip(_NAMED, key, strict=True)))
            del ended[key]
        return ended


_TOGETHER: Final = 32
"""Sessions that go on together at the least."""


def _over(key: _Key, ended: Mapping[_Key, int], done: frozenset[RowKey]) -> bool:
    """Whether the journal holds the end of a session and its every turn."""
    return key in ended and all((*key, n) in done for n in range(ended[key]))


def _key(pipeline: Pipeline, session: Session, trial: int, repeat: int) -> _Key:
    return session.case.id, pipeline.arm, trial, repeat


def _named(said: Mapping[str, Any]) -> _Key:
    return said["case_id"], said["arm"], said["trial"], said["repeat"]


def _timing(row: Row, session: Session) -> Mapping[str, float]:
    """With the seconds of the environment, and of building the memory with what is new in it."""
    built = row.timing.get("ingest_s", 0.0) if session.writing else 0.0
    written = {"write_s": built} if session.writes else {}
    return {**row.timing, "environment_s": session.environment_s, **written}


def _ended(row: Row, session: Session) -> dict[str, Any]:
    how = session.ended or ("error" if row.error else row.state)
    of = {name: getattr(row, name) for name in _NAMED}
    return {**of, "turns": row.turn + 1, "ended": how}
