"""`protocol=retrieve`: the path up to the view. No model answers, so every value is model-free."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from framework.bounds import Bounded, at_least
from framework.contracts import Pipeline, RowKey, RunProtocol
from framework.records import Case, Row
from framework.registry import register


@dataclass(frozen=True)
class RetrieveSettings(Bounded):
    """`k`: most items asked of an arm; null for as many as the budget could hold."""

    k: Annotated[int | None, at_least(1)] = None


@register("protocol", "retrieve")
class Retrieve(RunProtocol[RetrieveSettings]):
    """The pipeline up to the view: only axes that need no answer."""

    answers: ClassVar[bool] = False

    def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        return pipeline.rows(cases, done, answer=False, k=self.settings.k)
