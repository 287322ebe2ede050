"""Any composed pipeline as a target: domain, arch, budget and reader as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from framework.canonical import digest
from framework.contracts import Outcome, Patch, Target, Taxonomy
from framework.improve.regimes import (
    evidence_of,
    retrieval_taxonomy,
    retrieval_variants,
    truncated,
)
from framework.records import Case, Row
from framework.registry import register
from framework.retention import required
from plugins.targets._retrieval import LIBRARY


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSettings:
    """Settings of `target=pipeline`.

    success : the axis column by which a case is correct, where it is at least one half.
    well_ranked_k, coverage_floor : thresholds of the retrieval regimes.
    """

    success: str = "eda"
    well_ranked_k: int = 20
    coverage_floor: float = 0.5

    def __post_init__(self) -> None:
        if self.well_ranked_k < 1:
            raise ValueError(f"well_ranked_k: {self.well_ranked_k} given, at least 1 expected")
        if not 0 < self.coverage_floor <= 1:
            raise ValueError(f"coverage_floor: {self.coverage_floor} given, 0 to 1 expected")


@register("target", "pipeline")
class PipelineTarget(Target[PipelineSettings]):
    """The composed pipeline under the retrieval regimes.

    A piece of gold evidence is a gold item that the decision turned on; it was in the view when the
    item was retained. Whether a prompt edit can change
    anything depends on the reader: the rule-based operations that read no instruction are deaf to
    it, and such edits are discarded as what changed requests but no answer.
    """

    Settings = PipelineSettings

    @cached_property
    def taxonomy(self) -> Taxonomy:
        return retrieval_taxonomy(self.settings.well_ranked_k, self.settings.coverage_floor)

    @property
    def variants(self) -> Mapping[str, Taxonomy]:
        return retrieval_variants()

    @property
    def library(self) -> tuple[Patch, ...]:
        return LIBRARY

    def outcome(self, case: Case, row: Row, record: Mapping[str, Any]) -> Outcome:
        asked = [p for p in record.get("prompts", ()) if p["phase"] == "answer"]
        base = Outcome(
            case_id=case.id,
            kind=self.kind(case),
            abstention=self.abstains(case),
            correct=not row.error and (row.axes.get(self.settings.success) or 0.0) >= 0.5,
            question=case.task.query,
            request=digest([[p["system"], p["user"]] for p in asked]),
            response=digest([p["response"] for p in asked]),
            error=row.error,
        )
        return base if row.error else _with_evidence(base, case, record)


def _with_evidence(base: Outcome, case: Case, record: Mapping[str, Any]) -> Outcome:
    sources = {item.id: item.source_ids for item in required(case.gold) if item.source_ids}
    answer = record["answer"]
    return replace(
        base,
        turns=evidence_of(sources, record, in_view=record["retained"]),
        truncated=truncated(record),
        view="\n".join(item.text for item in record["view"]),
        answer=answer.text or answer.decision,
    )
