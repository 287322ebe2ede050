"""What a case came to, from its row and record: the same for every target that recalls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from framework.contracts import Outcome, Target
from framework.improve.regimes import evidence_of, truncated
from framework.records import Case, Row
from framework.retention import required, used
from framework.text.canonical import digest

__all__ = ["outcome_of"]


def outcome_of(
    target: Target[Any], case: Case, row: Row, record: Mapping[str, Any], correct: bool
) -> Outcome:
    """The outcome of a case. Evidence: the gold items that the answer turned on."""
    asked = [p for p in record.get("prompts", ()) if p["phase"] == "answer"]
    base = Outcome(
        case_id=case.id,
        kind=target.kind(case),
        abstention=target.abstains(case),
        correct=correct and not row.error,
        question=case.task.query,
        request=digest([[p["system"], p["user"]] for p in asked]),
        response=digest([p["response"] for p in asked]),
        error=row.error,
    )
    if row.error:
        return base
    answer = record["answer"]
    gold = [item for item in required(case.gold) if item.source_ids]
    rests = {item.id: used(answer, case.task, item) for item in gold}
    return replace(
        base,
        turns=evidence_of(
            {item.id: item.source_ids for item in gold},
            record,
            in_view=record["retained"],
            used={id_: known for id_, known in rests.items() if known is not None},
        ),
        truncated=truncated(record),
        view="\n".join(item.text for item in record["view"]),
        answer=answer.text or answer.edit or answer.decision,
    )
