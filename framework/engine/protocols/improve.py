"""The improvement loop as a protocol: diagnose, author, gate, promote or discard (Regimes)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, ClassVar

from framework.contracts import Bound, Domain, Gate, Pipeline, RowKey, RunProtocol
from framework.errors import UserError
from framework.improve.loop import Loop
from framework.improve.settings import ImproveSettings
from framework.pipeline.path import Pipeline as Path
from framework.records import Case, Row
from framework.registry import plugins, register


@register("protocol", "improve")
class Improve(RunProtocol[ImproveSettings]):
    """Edits the pipeline's seams and keeps what held-out cases confirm; rows are those of TEST.

    Cases are its own: the pool of its settings, split in three; `n_cases` does not count. The
    loop's events stand in the journal, its tables in improve.json.
    """

    groups: ClassVar[tuple[str, ...]] = ("target", "author", "routing")
    Settings = ImproveSettings

    def __init__(self, settings: ImproveSettings) -> None:
        super().__init__(settings)
        self._bound: Bound | None = None
        self._loop: Loop | None = None

    def check(self, parts: Mapping[str, Any], domain: Domain[Any]) -> None:
        parts["target"].on(domain)
        gate: Gate[Any] = parts["gate"]
        if not gate.in_loops:
            able = [plugin.name for plugin in plugins("gate") if plugin.cls.in_loops]
            raise UserError(
                f"gate={gate.name} judges whole runs, not edits within a loop; of the gates "
                f"{' and '.join(able)} do"
            )

    def bind(self, bound: Bound) -> None:
        self._bound = bound

    async def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        assert isinstance(pipeline, Path)
        assert self._bound is not None, "bind() comes before drive()"
        self.check(self._bound.parts, pipeline.domain)
        self._loop = Loop(self.settings, self._bound, pipeline)
        async for row, record in self._loop.run(done):
            yield row, record

    def report(self) -> Mapping[str, Any] | None:
        state = None if self._loop is None else self._loop.state
        return None if state is None else state.results.plain()
