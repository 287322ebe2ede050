"""The one path: history, ingest, recall, score, select, assemble, pack, read, score the axes, row.

Protocols drive it and none has a path of its own. A case that fails becomes a row with its error;
the others go on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, Literal

from framework.contracts import (
    Arch,
    ArchContext,
    Axis,
    Domain,
    Embedder,
    Extractor,
    Judge,
    Model,
    Query,
    Reader,
    RowKey,
    Scored,
    Turn,
    Views,
    maybe_await,
)
from framework.errors import NotOffered, StopRun, UserError
from framework.models.client import Ledger, ModelClient, track_usage
from framework.pipeline.concurrency import CancelToken, bounded, is_cancelled
from framework.pipeline.failures import told
from framework.pipeline.given import checked, items_of
from framework.pipeline.histories import events_of
from framework.pipeline.ingest import Memories, Memory, ingested
from framework.pipeline.pack import pack
from framework.pipeline.recall import Found, search
from framework.pipeline.score import Measured, score_axes
from framework.pipeline.seams import Seams
from framework.records import ABSTAIN, Answer, Case, Event, Item, MemoryView, Row, Usage
from framework.retention import event_ranks, kept_trace, retained
from framework.text.canonical import digest

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    case: Case
    trial: int
    repeat: int
    turn: Turn | None = None


@dataclass(slots=True, kw_only=True)
class _Said:
    """What was said of a case so far, and when (`at`, in seconds of the clock)."""

    at: float
    answer: Answer | None = None
    clean: Answer | None = None


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """One composed path. `arm` is the arch's label in rows; `open_arch` makes an instance of it.

    It never changes: another path is made of it by `dataclasses.replace`, which shares its parts.
    client : what the model is asked through; a question beside the path too, inside `track_usage`.
    traces_sources : whether items reach a seam with `source_*` signals, of where and when their
        events arrived; a path with them has memories of its own. cancel : its graceful stop.
    views : which further views each case is answered from; None for no others.
    """

    domain: Domain[Any]
    arm: str
    arch: type[Arch[Any]]
    arch_settings: Any
    budget_tokens: int
    packing: Literal["truncate", "whole"]
    reader: Reader[Any]
    model: Model[Any]
    client: ModelClient
    judge: Judge[Any] | None
    axes: Sequence[Axis[Any]]
    seed: int
    repeats: int = 1
    embedder: Embedder[Any] | None = None
    extractor: Extractor[Any] | None = None
    seams: Seams = field(default_factory=Seams)
    traces_sources: bool = False
    views: Views | None = None
    memories: Memories = field(default_factory=Memories)
    cancel: CancelToken = field(default_factory=CancelToken)

    @cached_property
    def trials(self) -> int:
        """How many times the arm is to be made for one history: above 1 where chance has a part."""
        return self.open_arch("", 0).trials

    @property
    def limit(self) -> int | None:
        """The view's budget in tokens; None for an unbudgeted arm."""
        return None if self.arch.unbudgeted else self.budget_tokens

    @property
    def parts(self) -> list[type[Any]]:
        """The classes of the plugins along the path."""
        held = (self.domain, self.reader, self.model, self.judge, self.embedder, self.extractor)
        return [self.arch, *(type(part) for part in (*held, *self.axes) if part is not None)]

    @property
    def _memory_asks(self) -> bool:
        """Whether a model may be asked to build or to search a memory, so that samples differ."""
        extracting = self.extractor is not None and self.extractor.needs_model
        return self.arch.needs_model or extracting

    @property
    def places(self) -> int:
        """Cases that may be under way at once: as many as either model answers at once."""
        models = (self.model, self.judge.model if self.judge is not None else None)
        return max(1, *(model.concurrency for model in models if model is not None))

    def open_arch(self, history_id: str, trial: int) -> Arch[Any]:
        """A fresh instance of the arch for one history and trial."""
        context = ArchContext(
            budget_tokens=self.limit,
            client=self.client,
            fields=self.domain.fields if self.arch.knows_schema else (),
            embedder=self.embedder if self.arch.uses_embedder else None,
            seed=int(digest([self.seed, history_id])[7:23], 16),
            trial=trial,
        )
        return self.arch(self.arch_settings, context)

    def with_views(self, views: Views) -> Pipeline:
        """The same path, whose reader answers each case from further views too."""
        return replace(self, views=views)

    def with_arch(self, around: Callable[[type[Arch[Any]]], type[Arch[Any]]]) -> Pipeline:
        """The same path with what is made of its arch, and with memories of its own."""
        return replace(self, arch=around(self.arch), memories=Memories())

    async def rows(
        self, cases: Iterable[Case], done: frozenset[RowKey], *, answer: bool, k: int | None
    ) -> AsyncIterator[tuple[Row, Record]]:
        """Rows with their records, as they finish, leaving out the keys in `done`.

        At most `places` cases are under way; cases are taken only as places fall free.
        Once `cancel` is cancelled no case is begun, and those under way end. Raises StopRun, in the
        same way: when the others have ended.
        """
        jobs = (partial(self._run, job, answer, k) for job in self._jobs(cases, done))
        async for row, record in self.bounded(jobs):
            yield row, record

    def bounded(
        self, jobs: Iterator[Callable[[], Coroutine[Any, Any, tuple[Row, Record]]]]
    ) -> AsyncIterator[tuple[Row, Record]]:
        """The results of jobs as they finish, `places` of them under way; see `rows`."""
        return bounded(jobs, self.places, self.cancel)

    async def sampled(
        self, cases: Iterable[Case], repeat: int
    ) -> AsyncIterator[tuple[Row, Record]]:
        """Answered rows of the first trial and one repeat of each case, as they finish."""
        jobs = (
            partial(self._run, _Job(case=case, trial=0, repeat=repeat), True, None)
            for case in cases
        )
        async for row, record in self.bounded(jobs):
            yield row, record

    async def turn(
        self, case: Case, turn: Turn, *, trial: int = 0, repeat: int = 0, k: int | None = None
    ) -> tuple[Row, Record]:
        """One turn of a session on a case, as any case goes along the path.

        Its axes are measured where the session ends with it. Raises StopRun.
        """
        return await self._run(_Job(case=case, trial=trial, repeat=repeat, turn=turn), True, k)

    def _jobs(self, cases: Iterable[Case], done: frozenset[RowKey]) -> Iterator[_Job]:
        """Trial by trial through the cases of one history, so that each memory is made once."""
        for _, group in groupby(cases, key=attrgetter("history_id")):
            together = tuple(group)
            for trial in range(self.trials):
                for repeat in range(self.repeats):
                    for case in together:
                        if (case.id, self.arm, trial, repeat, 0) not in done:
                            yield _Job(case=case, trial=trial, repeat=repeat)

    async def _run(self, job: _Job, answer: bool, k: int | None) -> tuple[Row, Record]:
        case = job.case
        base = Row(
            case_id=case.id,
            arm=self.arm,
            trial=job.trial,
            repeat=job.repeat,
            turn=job.turn.number if job.turn else 0,
            history_id=case.history_id,
            stratum=case.stratum,
            cluster=case.cluster or case.id,
            tags=case.tags,
            depth=case.depth,
            expected=case.gold.decision,
            budget_tokens=self.limit,
            domain_version=self.domain.version,
            model=self.model.described if answer else "",
        )
        forms, form = self.model.reads_forms, case.tags.get("form")
        if (answer or self._memory_asks) and forms is not None and form is not None:
            base = replace(base, form_read=form in forms)
        ledger = Ledger()
        try:
            return await self._measure(base, job, ledger, answer, k)
        except StopRun as stop:
            raise StopRun(f"{stop} (case {case.id})") from None
        except NotOffered as why:
            row = replace(base, state=str(why), usage=ledger.usage())
            return row, {"state": row.state, "prompts": ledger.prompts}
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            # Whatever a plugin raises, the case is a row and the run goes on.
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            row = replace(base, error=told(error, self.parts), usage=ledger.usage())
            return row, {"error": row.error, "prompts": ledger.prompts}

    async def _measure(
        self, row: Row, job: _Job, ledger: Ledger, answer: bool, k: int | None
    ) -> tuple[Row, Record]:
        """One case from its memory to its axes, with what stands where the answer fails."""
        case = job.case
        if case.task.decisions and case.gold.decision not in (*case.task.decisions, ABSTAIN):
            raise UserError(
                f"gold decision {case.gold.decision!r} is not a decision of the task card"
            )
        memory = await self._remembered(job, ledger)
        started = time.perf_counter()
        found = await self._find(memory, case, job, ledger, k)
        view = replace(found.view, ranks=event_ranks(found.view))
        recalled = time.perf_counter()
        kept = retained(case.gold, view, partial(self.domain.states, case))
        scored = self.scored(case, view, kept)
        said = _Said(at=recalled)
        failed: Exception | None = None
        try:
            scored, axes = await self._asked(scored, said, job, ledger, answer, k)
            measured = await _scored_axes(axes, scored, job, ledger)
        except StopRun:
            raise
        except Exception as error:
            if not answer:
                raise
            failed = error
            # What memory kept stands, whatever became of the answer: no answer is asked for it.
            scored = replace(scored, answer=None, clean=None, others={})
            measured = await _scored_axes(self.axes, scored, job, ledger)
            measured.outcome.update(success=None, determined=None)
        state = str(failed) if isinstance(failed, NotOffered) else ""
        row = replace(
            row,
            model=self.model.described if answer else "",  # a server may have told it just now
            **measured.outcome,
            state=state,
            error=told(failed, self.parts) if failed and not state else "",
            axes=measured.values,
            decision=said.answer.decision if said.answer else "",
            reasons=said.answer.reasons if said.answer else (),
            view_tokens=view.tokens,
            available_tokens=sum(entry.tokens for entry in view.trace),
            usage=ledger.usage(),
            timing={
                "ingest_s": memory.seconds,
                "recall_s": recalled - started,
                "answer_s": said.at - recalled,
                "control_and_score_s": time.perf_counter() - said.at,
            },
        )
        record = {
            "query": self._query(case).text,
            **({"queries": found.queries} if job.turn or self.reader.searches else {}),
            **({"session": job.turn.record()} if job.turn else {}),
            "view": view.items,
            **kept_trace(view, case.gold),
            "retained": kept,
            "answer": said.answer,
            "clean": said.clean,
            **({"others": _kept(scored.others, measured.of_others)} if scored.others else {}),
            "prompts": ledger.prompts,
            "evidence": measured.evidence,
            "verdicts": measured.verdicts,
            **({"error": row.error} if row.error else {}),
            **({"state": state} if state else {}),
            "arch_report": dict(memory.arch.report()),
            **({"extraction": memory.extraction} if memory.extraction else {}),
        }
        return row, record

    async def _remembered(self, job: _Job, ledger: Ledger) -> Memory:
        """The memory that a case is read from, booked once. Raises what its ingest raised."""
        memory = await self._memory(job.case.history_id, job)
        if self._memory_asks or not job.repeat:  # else the first repeat's memory is this one
            ledger.entries.update(memory.usage)
        if memory.error is not None:
            raise memory.error
        if job.turn is not None and job.turn.written:
            return await self._written(job.case, job, ledger)
        return memory

    async def _asked(
        self, scored: Scored, said: _Said, job: _Job, ledger: Ledger, answer: bool, k: int | None
    ) -> tuple[Scored, Sequence[Axis[Any]]]:
        """The case with what its reader, its control and its further views say, and its axes.

        None of it is asked for without `answer`. What was said stands in `said` if the rest fails.
        """
        axes, turn = self.axes, job.turn
        if answer:
            reader = turn or self.reader
            said.answer = await self._read(
                scored.case, scored.view, ledger, "answer", job.repeat, reader
            )
        said.at = time.perf_counter()
        if turn is None:
            said.clean = await self._control(scored.case, job, ledger, k) if answer else None
        elif (figures := turn.close(ledger.usage())) is None:
            axes = ()  # they are those of its session, which goes on
        else:
            scored = replace(scored, session=figures)
        scored = replace(scored, answer=said.answer, clean=said.clean)
        if answer and self.views is not None:
            scored = replace(scored, others=await self._others(scored, job, ledger))
        return scored, axes

    def scored(self, case: Case, view: MemoryView, kept: Mapping[str, bool]) -> Scored:
        """What axes may look at of a case that nobody has answered yet."""
        return Scored(
            case=case,
            domain=self.domain,
            view=view,
            answer=None,
            retained=kept,
            judge=self.judge,
            client=self.client,
            embedder=self.embedder,
        )

    async def _others(self, scored: Scored, job: _Job, ledger: Ledger) -> dict[str, Scored]:
        """The answers to the same case from further views; one that reads the same is not asked."""
        assert self.views is not None
        case, found = scored.case, {}
        events = events_of(self.domain, case.history_id)
        for name, view in self.views(self.domain, case, scored.view, events).items():
            answer = scored.answer
            if view.text != scored.view.text:
                answer = await self._read(case, view, ledger, "control", job.repeat)
            kept = retained(case.gold, view, partial(self.domain.states, case))
            found[name] = replace(scored, view=view, answer=answer, retained=kept)
        return found

    async def _control(self, case: Case, job: _Job, ledger: Ledger, k: int | None) -> Answer | None:
        """The answer to the same case without what was injected, booked on its own phase."""
        clean = self.domain.without_injection(case) if case.gold.injected else None
        if clean is None:
            return None
        memory = await self._memory(clean.history_id, job)
        ledger.add("control", memory.usage)
        if memory.error is not None:
            raise memory.error
        found = await self._find(memory, clean, job, ledger, k, phase="control")
        return await self._read(clean, found.view, ledger, "control", job.repeat)

    async def _find(
        self, memory: Memory, case: Case, job: _Job, ledger: Ledger, k: int | None, phase: str = ""
    ) -> Found:
        """The view of a case, in as many rounds as the reader searches.

        Recalls are booked on `recall`, what to ask next on `answer`; all of it on `phase`, if any.
        """
        first = self._query(case)

        async def recall(text: str) -> Sequence[Item]:
            query = first if self.arch.query == "none" else replace(first, text=text)
            with track_usage(ledger, phase or "recall", job.repeat, keep_prompts=bool(phase)):
                return self.seams.assembled(query, await self._recall(memory, query, k))

        async def next_query(view: MemoryView, asked: Sequence[str]) -> str | None:
            with track_usage(ledger, phase or "answer", job.repeat, keep_prompts=True):
                card = self.seams.card(case.task)
                return await maybe_await(self.reader.next_query(card, view, asked, self.client))

        if (turn := job.turn) is not None:
            rooms = [room for room in (self.limit, turn.room) if room is not None]
            items = await turn.items(case.task.query, recall)
            room = min(rooms, default=None)
            return Found(view=pack(items, room, self.packing, memory.count), queries=turn.queries)
        return await search(
            case.task.query,
            recall,
            next_query,
            rounds=self.reader.rounds if self.reader.searches else 1,
            limit=self.limit,
            packing=self.packing,
            count=memory.count,
        )

    def _query(self, case: Case) -> Query:
        return Query(
            text="" if self.arch.query == "none" else case.task.query,
            task=case.task if self.arch.sees_task else None,
            gold=case.gold if self.arch.sees_gold else None,
            seed=int(digest([self.seed, case.id])[7:23], 16),
        )

    async def _recall(self, memory: Memory, query: Query, k: int | None) -> Sequence[Item]:
        # An item holds at least one token, so more than a budget's worth of them can't be packed.
        # An unbudgeted arm gives everything: a cutoff would make another arm of it.
        most = 2**31 if self.limit is None else (self.limit if k is None else k)
        items = items_of(await maybe_await(memory.arch.recall(query, most)), most)
        if self.traces_sources and self.seams.of_items:
            items = [memory.sourced(item) for item in items]
        return self.seams.scored(query, items)

    async def _read(
        self,
        case: Case,
        view: MemoryView,
        ledger: Ledger,
        phase: str,
        repeat: int,
        reader: Reader[Any] | Turn | None = None,
    ) -> Answer:
        choice = int(digest([self.seed, case.id, "choice"])[7:23], 16)
        with track_usage(ledger, phase, repeat, keep_prompts=True, choice=choice):
            card = self.seams.card(case.task)
            given = await maybe_await((reader or self.reader).answer(card, view, self.client))
            answer = checked(given, card)
            edit = self.seams.answer
            return answer if edit is None else await edit(card, view, answer, self.client)

    async def _memory(self, history_id: str, job: _Job, written: tuple[Event, ...] = ()) -> Memory:
        """The memory of a history and what was written: made once, shared, the last few kept."""
        key = (history_id, job.trial, job.repeat if self._memory_asks else 0)
        name = f"{history_id} {digest(list(written))}" if written else history_id
        make = partial(self._ingest, *key, written)
        return await self.memories.get((name, *key[1:]), make, self.places)

    async def _written(self, case: Case, job: _Job, ledger: Ledger) -> Memory:
        """The memory with what a session wrote to it: built again, with those events at its end.

        What that takes beyond the memory as it was before the newest is booked on `write`, once.
        """
        assert job.turn is not None
        written, wrote = job.turn.written, job.turn.wrote
        made = await self._memory(case.history_id, job, written)
        if made.error is not None:
            raise made.error
        if wrote:
            before = (await self._memory(case.history_id, job, written[:-wrote])).usage
            for phase, usage in made.usage.items():
                ledger.book("write", usage.less(before.get(phase, Usage())))
        return made

    async def _ingest(
        self, history_id: str, trial: int, repeat: int, written: tuple[Event, ...] = ()
    ) -> Memory:
        return await ingested(
            self.open_arch(history_id, trial),
            chain(events_of(self.domain, history_id), written),
            repeat=repeat,
            client=self.client,
            extractor=self.extractor,
            traces_sources=self.traces_sources,
        )


async def _scored_axes(
    axes: Sequence[Axis[Any]], scored: Scored, job: _Job, ledger: Ledger
) -> Measured:
    with track_usage(ledger, "judge", job.repeat, keep_prompts=True):
        return await score_axes(axes, scored)


def _kept(others: Mapping[str, Scored], judged: Mapping[str, object]) -> dict[str, Record]:
    """What a record keeps of the answers from further views, by name, with the verdicts on them."""
    return {
        name: {"view": other.view.items, "retained": other.retained, "answer": other.answer}
        | ({"verdicts": judged[name]} if name in judged else {})
        for name, other in others.items()
    }
