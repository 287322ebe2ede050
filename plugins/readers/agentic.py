"""A reader that searches again with what it has read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from framework.bounds import Bounded, at_least
from framework.contracts import Client, Reader
from framework.operations.next_query import NextQuery, NextQueryRequest
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import register
from plugins.readers.commit import Commit, CommitSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class AgenticSettings(Bounded):
    """Settings of `reader=agentic`.

    rounds : most recalls, including the task's own query; at least 1, where 1 is the same as
        `commit`.
    """

    rounds: Annotated[int, at_least(1)] = 3


@register("reader", "agentic")
class Agentic(Reader[AgenticSettings]):
    """Queries its memory again after reading, within the same total budget (Depth 5.2, 19).

    The open question of the source: whether iterated retrieval (ReAct, Yao et al. 2023; IRCoT,
    Trivedi et al. 2023) recovers what one query misses. It gets the budget in equal parts, one a
    round, and answers as `commit` does from all that it saw. Each round's query is one call.
    """

    searches = True

    @property
    def rounds(self) -> int:
        return self.settings.rounds

    async def next_query(
        self, task: TaskCard, view: MemoryView, asked: Sequence[str], client: Client
    ) -> str | None:
        request = NextQueryRequest(
            instruction=task.instruction,
            asked=tuple(asked),
            passages=tuple(item.text for item in view.items),
        )
        return (await client.ask(NextQuery(), request)).query or None

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        return await Commit(CommitSettings()).answer(task, view, client)
