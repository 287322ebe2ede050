"""A reader with additions: guarded operators on its answer (Regimes 8.3), or prose for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from framework.contracts import Client, Operator, Reader
from framework.pipeline.seams import Seams
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import find, identity_of, register, settings_of
from plugins.readers.commit import Commit, CommitSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedSettings:
    """Settings of `reader=guarded`.

    operators : names of the group `operator`, in the order in which they are tried; none by
        default.
    guidance : text added to the reader's instruction, as the loop's prompt seam does: the prose
        patch that operators are compared with; none by default.
    """

    operators: tuple[str, ...] = ()
    guidance: str = ""

    def identity(self) -> dict[str, Any]:
        """Both, and what an operator has of its own, as the prompts that it asks a model with."""
        chosen = [find("operator", name) for name in self.operators]
        own = {p.name: said for p in chosen if (said := identity_of(p, settings_of(p, {})))}
        return {**asdict(self), **({"asked": own} if own else {})}


@register("reader", "guarded")
class Guarded(Reader[GuardedSettings]):
    """Answers like `commit`, unless an operator's detector fires: then the first one answers.

    Which one acted stands among the answer's provisions (`operator:NAME`), so that where it fires
    rightly and wrongly can be counted (axis `operators`). An operator is asked about tasks of its
    own operation alone. Raises UserError for a name that is no operator's.
    """

    def __init__(self, settings: GuardedSettings) -> None:
        super().__init__(settings)
        self._commit = Commit(CommitSettings())
        self._operators: Sequence[Operator[Any]] = [
            plugin.cls(settings_of(plugin, {}))
            for plugin in (find("operator", name) for name in settings.operators)
        ]

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        if self.settings.guidance:
            task = Seams(reader_prompt={"guidance": self.settings.guidance}).card(task)
        answer = await self._commit.answer(task, view, client)
        for operator in self._operators:
            acted = await operator.apply(task, view, answer, client)
            if acted is not None:
                return acted
        return answer
