"""The bound client: asks a model, and books every call on the case's ledger by phase.

Phases are ingest, recall, answer, judge, and control (the whole of a case without its injection).
Tokens are counted
with the project's own counter on the rendered prompt and the response's text.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from framework.contracts import Model, Operation
from framework.records import Usage
from framework.tokens import count_tokens

Req = TypeVar("Req")
Res = TypeVar("Res")


@dataclass(slots=True)
class Entry:
    """Running sums of one phase."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_usd: float = 0.0
    paid_usd: float = 0.0
    seconds: float = 0.0


@dataclass(slots=True)
class Ledger:
    """Calls, tokens, dollars and seconds by phase, of one case or of one history's ingest."""

    entries: dict[str, Entry] = field(default_factory=dict)
    prompts: list[dict[str, str]] = field(default_factory=list)

    def add(self, phase: str, other: Mapping[str, Usage]) -> None:
        """Add all of another ledger's usage to one phase of this one."""
        entry = self.entries.setdefault(phase, Entry())
        for usage in other.values():
            for name in Entry.__slots__:
                setattr(entry, name, getattr(entry, name) + getattr(usage, name))

    def usage(self) -> Mapping[str, Usage]:
        """The sums as records, by phase."""
        return {
            phase: Usage(
                calls=e.calls,
                tokens_in=e.tokens_in,
                tokens_out=e.tokens_out,
                tokens_cached=e.tokens_cached,
                cost_usd=e.cost_usd,
                paid_usd=e.paid_usd,
                seconds=e.seconds,
            )
            for phase, e in sorted(self.entries.items())
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the calls made now are booked on: a ledger, a phase, a sample index.

    `keep_prompts` records each prompt and raw response for answers.jsonl (the answer and judge
    phases: an auditor needs them; the ingest of a long history would repeat the history).
    """

    ledger: Ledger
    phase: str
    sample: int
    keep_prompts: bool = False


_scope: ContextVar[Scope] = ContextVar("decisionbench_scope")


@contextmanager
def booked(
    ledger: Ledger, phase: str, sample: int, *, keep_prompts: bool = False
) -> Iterator[None]:
    """Book the calls made inside, in this task, on `ledger` under `phase`."""
    token = _scope.set(Scope(ledger=ledger, phase=phase, sample=sample, keep_prompts=keep_prompts))
    try:
        yield
    finally:
        _scope.reset(token)


class ModelClient:
    """The `framework.contracts.Client` of a run: one object, which books by the current scope."""

    def __init__(self, model: Model[Any]) -> None:
        self._model = model

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        """The model's response, booked whether or not it could be used.

        Raises LookupError outside of `booked`: a call that nobody books would be free.
        """
        scope = _scope.get()
        entry = scope.ledger.entries.setdefault(scope.phase, Entry())
        prompt = operation.prompt(request)
        entry.calls += 1
        entry.tokens_in += count_tokens(prompt.system) + count_tokens(prompt.user)
        start = time.perf_counter()
        try:
            response, raw = await self._model.run(operation, request, scope.sample)
        finally:
            entry.seconds += time.perf_counter() - start
        entry.tokens_out += count_tokens(raw)
        if scope.keep_prompts:
            scope.ledger.prompts.append(
                {
                    "phase": scope.phase,
                    "operation": operation.name,
                    "system": prompt.system,
                    "user": prompt.user,
                    "response": raw,
                }
            )
        return response
