"""Of `veterans`: what is seen of a claim tells of its decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from benchmarks.attacks._told import Row, Told, told
from benchmarks.studies.leaks.measures import (
    Table,
    auc,
)
from framework.records import Case
from plugins.domains.veterans.domain import Veterans
from plugins.domains.veterans.order import OTHER

Seen = Callable[[Veterans, Case], Any]
"""What is seen of a claim: a text, or features by name."""


def _sentences(of_evidence: bool) -> Seen:
    def seen(domain: Veterans, case: Case) -> str:
        own = domain.decision(case.history_id).sentences
        return " ".join(s.text for s in own if s.is_evidence is of_evidence)

    return seen


def _amounts(domain: Veterans, case: Case) -> Row:
    own = domain.decision(case.history_id).sentences
    evidence = sum(s.is_evidence for s in own)
    length = fmean(len(s.text) for s in own)
    return {"e": float(evidence), "r": float(len(own) - evidence), "len": length}


SEEN: Final[Mapping[str, Seen]] = {
    "the claim's words": lambda domain, case: case.task.query,
    "year of the decision": lambda domain, case: {"year": float(case.tags["year"])},
    "own rules": _sentences(of_evidence=False),
    "own evidence and rules": lambda domain, case: " ".join(
        s.text for s in domain.decision(case.history_id).sentences
    ),
    "own evidence": _sentences(of_evidence=True),
    "number of its own sentences of either kind, and their length": _amounts,
    "the whole history, with 1,000 sentences of others": lambda domain, case: " ".join(
        event.text for event in domain.history(case.history_id)
    ),
    "the findings, held out (the test's own control)": lambda domain, case: " ".join(
        domain.decision(case.history_id).findings
    ),
}


def claims(domain: Any, cases: Sequence[Case]) -> Table:
    """What is seen of a claim tells of whether it was granted or denied."""
    clear = _clear(cases)
    clusters = {case.cluster for case in clear}
    return [
        ("from", f"AUC over {len(clear)} claims of {len(clusters)} decisions"),
        *((name, auc(outcome(seen, domain, clear))) for name, seen in SEEN.items()),
    ]


def outcome(seen: Seen, domain: Veterans, cases: Sequence[Case]) -> Told | None:
    """What is seen of claims tells of GRANT against DENY, whole decisions held out."""
    clear = _clear(cases)
    return told(
        [seen(domain, case) for case in clear],
        [case.gold.decision for case in clear],
        [case.cluster for case in clear],
    )


def _clear(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.gold.decision != OTHER]
