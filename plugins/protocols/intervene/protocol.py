"""`protocol=intervene`: each case answered from its view, with the gold put in, and taken out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Pipeline, RowKey, RunProtocol
from framework.errors import UserError
from framework.records import Case, Event, MemoryView, Row
from framework.registry import register
from plugins.protocols.intervene.views import CannotIntervene, Place, pair_of


@dataclass(frozen=True)
class InterveneSettings(Bounded):
    """`k`: most items asked of an arm; null for as many as the budget could hold.

    place : where gold goes that the memory did not show: over other words of its view drawn at
        random (by the case), over the first or over the last of them.
    """

    k: Annotated[int | None, at_least(1)] = None
    place: Place = "random"


@register("protocol", "intervene")
class Intervene(RunProtocol[InterveneSettings]):
    """The whole pipeline, then the same reader with the gold put into each view and taken out.

    Whether a view *causes* the right answer by what it holds: kappa is over the cases that a memory
    retained, which may be the easy ones; here the gold is put into every view, and taken out of
    every view, everything else equal (`plugins.protocols.intervene.views`). The axis `intervention`
    holds what came of it.
    """

    axes: ClassVar[tuple[str, ...]] = ("intervention",)
    headline: ClassVar[tuple[str, ...]] = ("kappa_inserted", "leak_removed")
    like: ClassVar[str] = "evaluate"

    def check(self, domain: Domain[Any]) -> None:
        if "items" not in domain.provides:
            raise UserError(
                f"protocol={self.name}: domain {domain.name} has no gold items: nothing can be put "
                "into a view or taken out of it"
            )

    def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        edited = pipeline.with_views(self._views)
        return edited.rows(cases, done, answer=True, k=self.settings.k)

    def _views(
        self, domain: Domain[Any], case: Case, view: MemoryView, events: Iterable[Event]
    ) -> Mapping[str, MemoryView]:
        try:
            return pair_of(domain, case, view, events, self.settings.place)
        except CannotIntervene:
            return {}
