"""The cases of any domain as an inspect_ai task: inspect's model answers, our axes score.

The path is a run's own, with the reader's questions put to inspect's model. It is gone along three
times: for the first question of each case (the sample's input), to ask what the reader asks, and to
score what was answered, so that `inspect score` scores a log again.
Source: https://inspect.aisi.org.uk (extensions, tasks, scorers).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import nan
from typing import Any, Final, TypeVar

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from framework.config import Plan
from framework.contracts import Client, Operation, Reader
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline, check
from framework.errors import NotOffered, UnreadableError, UserError
from framework.models.llm import asked_again
from framework.operations.prompted import PromptSet
from framework.pipeline.path import Pipeline
from framework.records import Answer, Case, MemoryView, Row, TaskCard

Req = TypeVar("Req")
Res = TypeVar("Res")
T = TypeVar("T")

_SAID: Final = "decisionbench_answers"
"""Where a sample's store keeps what was answered, in the order of the questions."""
_PROTOCOL: Final = "evaluate"


@dataclass(frozen=True, slots=True)
class Said:
    """The text of an answer; `cut` is how many tokens it was cut off at, if it was."""

    text: str
    cut: int | None = None


Turns = Sequence[Mapping[str, str]]
"""Messages with `role` and `content`, the last of the user."""
Answerer = Callable[[Turns], Awaitable[Said]]


class _Asked(NotOffered):
    """Nobody answers yet: the question is all that was wanted."""


class _Elsewhere:
    """A client whose questions are answered elsewhere, and asked again once where unreadable."""

    kind = "llm"

    def __init__(self, client: Client, prompts: PromptSet, answer: Answerer) -> None:
        self._client, self._prompts, self._answer = client, prompts, answer

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `framework.contracts.Client`."""
        return {"plugin": "inspect_ai"}

    def choose(self, options: Sequence[str]) -> str:
        """See `framework.contracts.Client`."""
        return self._client.choose(options)

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        """The response in the answer. Raises UnreadableError where the second is unreadable too."""
        operation = self._prompts.bind(operation)
        prompt = operation.prompt(request)
        body: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ]
        }
        problem = ""
        for _ in range(2):
            said = await self._answer(body["messages"])
            try:
                if said.cut is not None:
                    return operation.parse_cut(said.text, request, said.cut)
                return operation.parse(said.text, request)
            except ValueError as error:
                problem = str(error)
            body = asked_again(body, said.text, problem)
        raise UnreadableError(f"{operation.name}: unreadable after a repair: {problem}")


class _ReadElsewhere(Reader[Any]):
    """A reader whose questions go to another client than those of memory and judge."""

    searches = True

    def __init__(self, reader: Reader[Any], prompts: PromptSet, answer: Answerer) -> None:
        super().__init__(reader.settings)
        self._reader, self._prompts, self._answer = reader, prompts, answer

    @property
    def rounds(self) -> int:
        return self._reader.rounds if self._reader.searches else 1

    def answer(
        self, task: TaskCard, view: MemoryView, client: Client
    ) -> Awaitable[Answer] | Answer:
        return self._reader.answer(task, view, self._with(client))

    def next_query(
        self, task: TaskCard, view: MemoryView, asked: Sequence[str], client: Client
    ) -> Awaitable[str | None] | str | None:
        return self._reader.next_query(task, view, asked, self._with(client))

    def _with(self, client: Client) -> _Elsewhere:
        return _Elsewhere(client, self._prompts, self._answer)


class Cases:
    """The cases of one composition, each of which goes along its path with answers from outside.

    overrides : as a run takes them. Raises UserError for what a run would refuse, and for a
    protocol that does not answer each case once: nothing of what else it does would be measured.
    """

    def __init__(self, overrides: Sequence[str]) -> None:
        with composer():
            self.plan: Plan = compose_plan(["tracking=none", *overrides])
            if self.plan.parts["protocol"].plugin.name != _PROTOCOL:
                said = self.plan.option("protocol")
                told = f"a task answers each case once, protocol={_PROTOCOL} only"
                raise UserError(f"protocol={said}: {told}")
            prepared = check(self.plan)
        self.domain = prepared.pipeline.domain
        self.cases = {case.id: case for case in prepared.cases}
        self.names = [name for axis in prepared.pipeline.axes for name in axis.names]
        self._paths: dict[asyncio.AbstractEventLoop, Pipeline] = {}

    async def row(self, case: Case, answer: Answerer) -> Row:
        """The row of a case's first trial. Raises what `answer` raises, but for `_Asked`."""
        failed: list[BaseException] = []

        async def answered(turns: Turns) -> Said:
            try:
                return await answer(turns)
            except _Asked:
                raise
            except BaseException as error:  # the path would make a row of it
                failed.append(error)
                raise

        path = self._path()
        reader = _ReadElsewhere(path.reader, self.plan.prompts, answered)
        async for row, _ in replace(path, reader=reader).sampled([case], 0):
            if not failed:
                return row
        raise failed[0]

    def _path(self) -> Pipeline:
        """The path of this event loop: what is being made or served belongs to one."""
        loop = asyncio.get_running_loop()
        if loop not in self._paths:
            self._paths = {loop: build_pipeline(self.plan, self.domain)}
        return self._paths[loop]

    async def questions(self) -> dict[str, Turns]:
        """By case id, the first question of its reader. Raises UserError where there is none."""
        found: dict[str, Turns] = {}
        for case in self.cases.values():

            async def keep(turns: Turns, id_: str = case.id) -> Said:
                found[id_] = turns
                raise _Asked("asked elsewhere")

            row = await self.row(case, keep)
            if case.id not in found:
                reader = self.plan.label("reader")
                raise UserError(row.error or f"reader={reader} asks a model nothing: {case.id}")
        path = self._path()
        for part in (path.model, path.judge, path.embedder):
            if part is not None:
                await part.close()
        return found


@lru_cache(maxsize=4)
def _composed(overrides: tuple[str, ...]) -> Cases:
    try:
        return Cases(overrides)
    except UserError as error:
        raise PrerequisiteError(str(error)) from None


def _in_thread(work: Coroutine[Any, Any, T]) -> T:
    """What comes of a coroutine where a loop is running already, as where inspect makes a task."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, work).result()


def _messages(turns: Turns) -> list[ChatMessage]:
    kinds: dict[str, Any] = {
        "system": ChatMessageSystem,
        "user": ChatMessageUser,
        "assistant": ChatMessageAssistant,
    }
    return [kinds[turn["role"]](content=turn["content"]) for turn in turns]


@task
def domain(
    domain: str | None = None,
    arch: str | None = None,
    budget: str | None = None,
    n_cases: int | None = None,
    seed: int | None = None,
    overrides: str | Iterable[str] = (),
) -> Task:
    """The cases of a domain, each asked from what a memory architecture shows of its history.

    domain, arch, budget, n_cases, seed : as a run takes them, and by default what a run has.
    overrides : any others, as `reader=verified`; more than one as a list. Their `model` serves
        memory and judge alone.

    Raises inspect's PrerequisiteError, in one line, for what a run would refuse.
    """
    more = [overrides] if isinstance(overrides, str) else list(overrides)
    given = {"domain": domain, "arch": arch, "budget": budget, "n_cases": n_cases, "seed": seed}
    words = [*(f"{name}={v}" for name, v in given.items() if v is not None), *more]
    composed = _composed(tuple(words))
    try:
        asked = _in_thread(composed.questions())
    except UserError as error:
        raise PrerequisiteError(str(error)) from None
    data = composed.domain
    common = {
        "domain": composed.plan.label("domain"),
        "domain_version": data.version,
        "licence": data.provenance.licence,
        "arm": composed.plan.label("arch"),
        "budget": composed.plan.label("budget"),
    }
    samples = [
        Sample(
            id=case.id,
            input=_messages(asked[case.id]),
            target=case.gold.decision or case.gold.answer or "",
            metadata={
                **common,
                "case": case.id,
                "history": case.history_id,
                "stratum": case.stratum,
            },
        )
        for case in composed.cases.values()
    ]
    return Task(dataset=samples, solver=reader(words), scorer=axes(words), version=data.version)


@solver
def reader(overrides: Sequence[str]) -> Solver:
    """The reader of a composition, whose every question is put to inspect's model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        composed = _composed(tuple(overrides))
        answers: list[Said] = []

        async def answer(turns: Turns) -> Said:
            state.messages = _messages(turns)
            output = (await generate(state)).output
            cut = None
            if output.stop_reason == "max_tokens":
                cut = output.usage.output_tokens if output.usage is not None else 0
            answers.append(Said(output.completion, cut))
            return answers[-1]

        await composed.row(composed.cases[str(state.sample_id)], answer)
        state.store.set(_SAID, [asdict(said) for said in answers])
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def axes(overrides: Sequence[str]) -> Scorer:
    """The axes of a composition on the stored answers; NaN, which inspect leaves out, where None.

    Where another solver answered, its last text stands for the answer to every question.
    """

    async def score(state: TaskState, target: Target) -> Score:
        composed = _composed(tuple(overrides))
        stored = state.store.get(_SAID)
        left = iter([Said(**said) for said in stored] if stored is not None else ())

        async def answer(turns: Turns) -> Said:
            return next(left, Said(state.output.completion))

        row = await composed.row(composed.cases[str(state.sample_id)], answer)
        values = {name: row.axes.get(name) for name in composed.names}
        values["success"] = row.success
        return Score(
            value={name: nan if v is None else float(v) for name, v in values.items()},
            answer=row.decision or state.output.completion,
            explanation=row.error or row.state or None,
            metadata={"view_tokens": row.view_tokens, "sufficient": row.sufficient},
        )

    return score
