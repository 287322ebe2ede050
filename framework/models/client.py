"""The bound client: asks a model, and books every call on the case's ledger by phase.

Phases are ingest, recall, answer, judge, control (the whole of a case without its injection),
measure (what axes take of an embedder), write (what a session adds to memory), author (a loop).
A language model's tokens are as the provider counted them; a rule-based model's are counted with
the project's own counter on the rendered prompt and the response's text, at price 0.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from framework.contracts import Model, Operation, Prompt
from framework.errors import DoesNotFit, ModelError, UnreadableError
from framework.operations.prompted import NO_SET, PromptSet
from framework.records import Usage
from framework.registry import find, identity_of
from framework.text.tokens import count_tokens

Req = TypeVar("Req")
Res = TypeVar("Res")

_NONE = Usage()


@dataclass(slots=True)
class Ledger:
    """Calls, tokens, dollars and seconds by phase, of one case or of one history's ingest."""

    entries: dict[str, Usage] = field(default_factory=dict)
    prompts: list[dict[str, str]] = field(default_factory=list)

    def book(self, phase: str, usage: Usage) -> None:
        """Add to one phase."""
        self.entries[phase] = self.entries.get(phase, _NONE).plus(usage)

    def add(self, phase: str, other: Mapping[str, Usage]) -> None:
        """Add all of another ledger's usage to one phase of this one."""
        for usage in other.values():
            self.book(phase, usage)

    def usage(self) -> Mapping[str, Usage]:
        """The sums, by phase."""
        return dict(sorted(self.entries.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageContext:
    """What the calls made now are booked on: a ledger, a phase, a sample index.

    `keep_prompts` records each prompt and raw response for answers.jsonl (the answer and judge
    phases: an auditor needs them; the ingest of a long history would repeat the history). `choice`
    is a number of the case, by which `Client.choose` falls.
    """

    ledger: Ledger
    phase: str
    sample: int
    keep_prompts: bool = False
    choice: int = 0


_scope: ContextVar[UsageContext] = ContextVar("decisionbench_scope")
current_usage: Final = _scope.get
"""What calls are booked on now. Raises LookupError outside of `track_usage`."""


@contextmanager
def track_usage(
    ledger: Ledger, phase: str, sample: int, *, keep_prompts: bool = False, choice: int = 0
) -> Iterator[None]:
    """Book the calls made inside, in this task, on `ledger` under `phase`."""
    token = _scope.set(
        UsageContext(
            ledger=ledger, phase=phase, sample=sample, keep_prompts=keep_prompts, choice=choice
        )
    )
    try:
        yield
    finally:
        _scope.reset(token)


@contextmanager
def track_usage_as(phase: str) -> Iterator[None]:
    """Book the calls made inside on the same ledger under another phase.

    Raises LookupError outside of `track_usage`.
    """
    token = _scope.set(replace(_scope.get(), phase=phase))
    try:
        yield
    finally:
        _scope.reset(token)


def book(usage: Usage) -> None:
    """Book what was used outside of any operation, as an embedder's, by the current scope.

    Raises LookupError outside of `track_usage`.
    """
    scope = _scope.get()
    scope.ledger.book(scope.phase, usage)


class ModelClient:
    """The `framework.contracts.Client` of a run: one object, which books by the current scope.

    `prompts` : what operations are asked with, unless they were bound to other prompts before.
    """

    def __init__(self, model: Model[Any], prompts: PromptSet = NO_SET) -> None:
        self._model = model
        self._prompts = prompts

    @property
    def kind(self) -> str:
        """See `framework.contracts.Client`."""
        return self._model.kind

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `framework.contracts.Client`."""
        plugin = find("model", self._model.name)
        return {"plugin": plugin.name, **identity_of(plugin, self._model.settings)}

    def choose(self, options: Sequence[str]) -> str:
        """See `framework.contracts.Client`. Raises LookupError outside of `track_usage`."""
        return options[_scope.get().choice % len(options)]

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        """The model's response, booked whether or not it could be used.

        Raises LookupError outside of `track_usage` (a call that nobody books would be free), and
        what `Model.run` raises.
        """
        scope = _scope.get()
        operation = self._prompts.bind(operation)
        text, usage = "", None
        start = time.perf_counter()
        try:
            reply = await self._model.run(operation, request, scope.sample)
            text, usage = reply.text, reply.usage
        except (DoesNotFit, ModelError, UnreadableError) as error:
            text, usage = getattr(error, "text", ""), error.usage
            raise
        finally:
            seconds = time.perf_counter() - start
            prompt = None
            if scope.keep_prompts or self._model.kind == "rule-based":
                prompt = operation.prompt(request)
            if usage is None and self._model.kind == "rule-based" and prompt is not None:
                usage = _counted(prompt, text, seconds)
            if usage is not None:
                scope.ledger.book(scope.phase, usage)
            if text and scope.keep_prompts and prompt is not None:
                scope.ledger.prompts.append(
                    {
                        "phase": scope.phase,
                        "operation": operation.name,
                        "system": prompt.system,
                        "user": prompt.user,
                        "response": text,
                    }
                )
        return reply.response


def _counted(prompt: Prompt, text: str, seconds: float) -> Usage:
    """What a rule-based answer would have been to a language model, at price 0."""
    return Usage(
        calls=1,
        tokens_in=count_tokens(prompt.system) + count_tokens(prompt.user),
        tokens_out=count_tokens(text),
        seconds=seconds,
    )
