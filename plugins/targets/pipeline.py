"""Any composed pipeline as a target: domain, arch, budget and reader as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.contracts import Domain, Outcome, Patch
from framework.errors import UserError
from framework.records import Case, Row
from framework.registry import find, nearest, register
from plugins.targets.retrieval import RetrievalSettings, RetrievalTarget, library_of, outcome_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSettings(RetrievalSettings):
    """Settings of `target=pipeline`, besides those of `RetrievalSettings`.

    success : the axis column that says whether a case is correct (at least one half); None for the
        domain's own (`Domain.success_axis`).
    """

    success: str | None = None


@register("target", "pipeline")
class PipelineTarget(RetrievalTarget[PipelineSettings]):
    """The composed pipeline under the retrieval regimes.

    A piece of gold evidence is a gold item that the decision turned on; it was in the view when the
    item was retained. Its prompts are in the clauses of the operation that answers the domain's
    cases; a rule-based reader without clauses is deaf to any prompt, and the library has none then.
    """

    def __init__(self, settings: PipelineSettings) -> None:
        super().__init__(settings)
        self._success = ""
        self._operation = ""

    def on(self, domain: Domain[Any]) -> PipelineTarget:
        """Raises UserError for a domain without a column of success, or without the one named."""
        found = type(self)(self.settings)
        found._success = _success(self.settings.success, domain)
        first = next(iter(domain.cases(1, 0)), None)
        found._operation = "" if first is None else first.task.operation
        return found

    @property
    def library(self) -> tuple[Patch, ...]:
        return library_of(self._operation)

    def outcome(self, case: Case, row: Row, record: Mapping[str, Any]) -> Outcome:
        correct = (row.axes.get(self._success) or 0.0) >= 0.5
        return outcome_of(self, case, row, record, correct)


def _success(given: str | None, domain: Domain[Any]) -> str:
    """The column that is meant. Raises UserError naming those that the domain has."""
    columns = [name for axis in domain.axes() for name in find("axis", axis).cls.names]
    if given is None:
        if domain.success_axis not in columns:
            raise UserError(
                f"target.success: domain {domain.name} has no success axis; name one of its "
                f"columns: {', '.join(sorted(columns))}"
            )
        return domain.success_axis
    if given not in columns:
        raise UserError(
            f"target.success: domain {domain.name} has no column {given!r}{nearest(given, columns)}"
        )
    return given
