"""One session: what was done and shown, and what ends it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, Final, Literal

from framework.contracts import Client, Interactive, Reader
from framework.errors import UnreadableError, UserError
from framework.records import ABSTAIN, Answer, Case, Event, Item, MemoryView, TaskCard, Usage
from plugins.protocols.sessions.agents import answered, scripted
from plugins.protocols.sessions.linked import Linked
from plugins.protocols.sessions.next_action import (
    ALWAYS,
    ANSWER,
    GIVE_UP,
    SEARCH,
    Exchange,
    NextAction,
    NextActionRequest,
    told,
)
from plugins.protocols.sessions.watched import Watched

ENDS: Final = ("resolved", "given_up", "out_of_turns", "out_of_tokens")
"""What a session can end with, beside an error; the first that holds counts."""
COUNTED: Final = ("recall", "answer", "write")
"""Phases that a session is billed for; the ingest of a history is its sessions' together."""
Agent = Literal["model", "oracle", "stubborn", "guesses"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a session may take. Bounds of None are none.

    turns : at most. tokens : in and out of all turns; the turn that passes it is the last. shown :
    tokens of all its views together.
    """

    turns: int
    tokens: int | None
    shown: int | None


@dataclass(kw_only=True)
class Session:
    """A task, who works on it, and the account of it so far. It is its own turn (`Turn`).

    begun : events that were written before its first turn; events : those and its own. wrote : how
    many are new; writing : whether any was with the turn that is over. lacks : the case that failed
    before, so that its tries can't be in memory.
    """

    case: Case
    domain: Interactive
    reader: Reader[Any]
    agent: Agent
    limits: Limits
    writes: bool
    number: int = 0
    turns: list[Exchange] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    found: list[Sequence[Item]] = field(default_factory=list)
    begun: tuple[Event, ...] = ()
    events: list[Event] = field(default_factory=list)
    wrote: int = 0
    writing: bool = False
    waiting: str = ""
    standing: Answer | None = None
    shown: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    spent: int = 0
    first: bool = False
    ended: str = ""
    environment_s: float = 0.0
    watched: dict[str, float] = field(default_factory=dict)
    figures: Mapping[str, float | None] = field(default_factory=dict)
    lacks: str = ""

    @property
    def room(self) -> int | None:
        """See `Turn`."""
        return None if self.limits.shown is None else max(0, self.limits.shown - self.shown)

    @property
    def written(self) -> tuple[Event, ...]:
        """See `Turn`."""
        return tuple(self.events)

    @property
    def queries(self) -> tuple[str, ...]:
        """See `Turn`."""
        return tuple(self.asked)

    def begin(self) -> None:
        """The next turn, after one that did not end the session."""
        self.number += 1
        self.environment_s = 0.0

    def follow(
        self, before: Session, carries: Literal["decisions", "all"], *, failed: bool
    ) -> None:
        """Begin with what was written before in its series, and what the last case left.

        carries : whether what was tried there stays written too. failed : whether the last case
        did, and so was not tried to its end.
        """
        if self.writes and isinstance(self.domain, Linked):
            if carries == "all":
                self.lacks = before.lacks or (before.case.id if failed else "")
            left = self.domain.left_by(before.case)
            stays = before.events if carries == "all" else before.begun
            self.events = [*stays, *left]
            self.begun = tuple(self.events)
            self.wrote = len(left)

    async def items(
        self, query: str, recall: Callable[[str], Awaitable[Sequence[Item]]]
    ) -> Sequence[Item]:
        """What memory gave to every query, taken in turns, the newest query's first; none twice.

        Memory is asked with the task's own query at first and whenever it was written to, and with
        what the last turn asked for. Raises UserError where the memory lacks an earlier case's
        tries: nothing is measured of another memory, and a resume takes the case again.
        """
        if self.lacks:
            raise UserError(f"an earlier case of its series failed: {self.lacks}")
        if not self.found:
            self.asked.append(query)
            self.found.append(await recall(query))
        elif self.wrote:
            self.found[0] = await recall(query)
        if self.waiting:
            self.asked.append(self.waiting)
            self.found.append(await recall(self.waiting))
            self.waiting = ""
        kept: dict[tuple[str, str], Item] = {}
        for item in chain.from_iterable(zip_longest(*reversed(self.found))):
            if item is not None:
                kept.setdefault((item.id, item.text), item)
        return list(kept.values())

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        """Act once, and give the answer that stands then.

        What a model says that can't be read is a turn lost: the session goes on.
        """
        self.shown += view.tokens
        self.writing = bool(self.wrote)
        try:
            done = await self._act(task, view, client)
        except UnreadableError as error:
            done = Exchange(action="unreadable", reply=str(error))
        self.turns.append(done)
        self.first = self.first or (done.settled and self.number == 0)
        self._remember(done)
        return self.standing or Answer(decision=ABSTAIN if task.decisions else "")

    def close(self, usage: Mapping[str, Usage]) -> Mapping[str, float | None] | None:
        """See `Turn`: those of `session_outcome`, and of `Watched`, where the session ended."""
        for phase in COUNTED:
            took = usage.get(phase, Usage())
            self.tokens[phase] = self.tokens.get(phase, 0) + took.tokens_in + took.tokens_out
        self.spent = sum(self.tokens.values())
        last, limits = self.turns[-1], self.limits
        over = (
            last.settled,
            last.action == GIVE_UP,
            self.number + 1 >= limits.turns,
            limits.tokens is not None and self.spent >= limits.tokens,
        )
        self.ended = next((end for end, holds in zip(ENDS, over, strict=True) if holds), "")
        if not self.ended:
            return None
        answers = [turn.said for turn in self.turns if turn.action == ANSWER]
        self.figures = {
            **self.watched,
            **{end: float(self.ended == end) for end in ENDS},
            "resolved_first": float(self.first),
            "turns": float(self.number + 1),
            "session_tokens": float(self.spent),
            "shown_tokens": float(self.shown),
            "answers": float(len(answers)),
            "searches": float(sum(turn.action == SEARCH for turn in self.turns)),
        }
        return self.figures

    def record(self) -> Mapping[str, object]:
        """See `Turn`: the turn that is over, how the session ended if it did, and its figures."""
        done = self.turns[-1] if len(self.turns) > self.number else None
        return {"turn": done, "ended": self.ended, "figures": dict(self.figures)}

    async def _act(self, task: TaskCard, view: MemoryView, client: Client) -> Exchange:
        if self.agent != "model":
            if self.agent != "stubborn" or self.standing is None:
                replies = [turn.reply for turn in self.turns]
                self.standing = scripted(self.agent, self.case, self.domain, replies)
            return self._replied(self.standing)
        if not self.turns:
            return await self._answer(task, view, client)
        tools = self.domain.tools(self.case)
        asked = await client.ask(
            NextAction(),
            NextActionRequest(
                instruction=task.instruction,
                ticket=task.query,
                turns=tuple(self.turns),
                actions={**ALWAYS, **tools},
                left=self.limits.turns - self.number,
            ),
        )
        if asked.action == ANSWER:
            return await self._answer(task, view, client)
        reply = ""
        if asked.action == SEARCH:
            self.waiting = asked.argument.strip() or task.query
            reply = "What memory has on it is shown from the next turn on."
        elif asked.action in tools:
            start = time.perf_counter()
            reply = self.domain.use(self.case, asked.action, asked.argument, self.standing)
            self.environment_s += time.perf_counter() - start
        return Exchange(action=asked.action, argument=asked.argument, reply=reply)

    async def _answer(self, task: TaskCard, view: MemoryView, client: Client) -> Exchange:
        self.standing = await answered(self.reader, task, view, client, self.turns)
        return self._replied(self.standing)

    def _replied(self, answer: Answer) -> Exchange:
        start = time.perf_counter()
        settled, reply = self.domain.reply(self.case, answer)
        self.environment_s += time.perf_counter() - start
        if isinstance(self.domain, Watched):
            for name, value in self.domain.watched(self.case, answer).items():
                self.watched[name] = max(value, self.watched.get(name, 0.0))
        return Exchange(
            action=ANSWER,
            said=answer.edit or answer.text or answer.decision,
            rests_on=answer.rationale,
            reply=reply,
            settled=settled,
        )

    def _remember(self, done: Exchange) -> None:
        """Write to memory what was tried and what came of it, where the session writes."""
        self.wrote = 0
        if self.writes and done.action == ANSWER and not done.settled:
            last = self.number + 1
            text = f"On the task: {self.case.task.query}\nTurn {last}: {told((done,))}"
            self.events.append(
                Event(id=f"{self.case.id}-turn-{last}", text=text, time="", kind="session")
            )
            self.wrote = 1
