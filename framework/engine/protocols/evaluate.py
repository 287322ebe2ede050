"""`protocol=evaluate`: the whole path, from history to scored answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from framework.bounds import Bounded, at_least
from framework.contracts import Pipeline, RowKey, RunProtocol
from framework.records import Case, Row
from framework.registry import register


@dataclass(frozen=True)
class EvaluateSettings(Bounded):
    """`k`: most items asked of an arm; null for as many as the budget could hold."""

    k: Annotated[int | None, at_least(1)] = None


@register("protocol", "evaluate")
class Evaluate(RunProtocol[EvaluateSettings]):
    """The whole pipeline: memory, reader, axes and judge."""

    def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        return pipeline.rows(cases, done, answer=True, k=self.settings.k)
