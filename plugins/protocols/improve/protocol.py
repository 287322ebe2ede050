"""The improvement loop as a protocol: diagnose, author, gate, promote or discard (Regimes)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from framework.contracts import Domain, Gate, Pipeline, ProtocolContext, RowKey, RunProtocol
from framework.errors import UserError
from framework.pipeline.path import Pipeline as Path
from framework.records import Case, Row
from framework.registry import plugins, register
from plugins.protocols.improve.heldout import OPENED
from plugins.protocols.improve.loop import Loop
from plugins.protocols.improve.settings import ImproveSettings


@register("protocol", "improve")
class Improve(RunProtocol[ImproveSettings]):
    """Edits the pipeline's seams and keeps edits that held-out cases confirm; rows are of TEST.

    Cases are its own: the pool of its settings, split in three; `n_cases` does not count. The
    loop's events stand in the journal, its tables in improve.json.
    """

    groups: ClassVar[tuple[str, ...]] = ("target", "author", "routing")
    controls: ClassVar[bool] = False
    seal: ClassVar[str | None] = OPENED

    def __init__(self, settings: ImproveSettings, context: ProtocolContext | None = None) -> None:
        super().__init__(settings, context)
        self._loop: Loop | None = None

    def check(self, domain: Domain[Any]) -> None:
        self.context.parts["target"].on(domain)
        gate: Gate[Any] = self.context.parts["gate"]
        if not gate.in_loops:
            able = [plugin.name for plugin in plugins("gate") if plugin.cls.in_loops]
            raise UserError(
                f"gate={gate.name} judges whole runs, not edits within a loop; use gate="
                f"{' or '.join(able)}"
            )

    async def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        assert isinstance(pipeline, Path)
        self.check(pipeline.domain)
        self._loop = Loop(self.settings, self.context, pipeline)
        async for row, record in self._loop.run(done):
            yield row, record

    def report(self) -> Mapping[str, Any] | None:
        state = None if self._loop is None else self._loop.state
        return None if state is None else state.results.plain()

    @classmethod
    def of_sweep(cls, reports: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        from plugins.protocols.improve.seeds import loops_summary

        return loops_summary(reports)
