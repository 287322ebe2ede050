"""What lies open about a claim tells of its decision what the card says, and no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.attacks._told import told
from plugins.domains.veterans.domain import Veterans, VeteransSettings
from plugins.domains.veterans.loading import Decision
from plugins.domains.veterans.order import OTHER

CARD = Path(__file__).parents[4] / "docs" / "reference" / "domains" / "veterans.md"


def _words(decision: Decision, evidence: bool) -> str:
    return " ".join(s.text for s in decision.sentences if s.is_evidence is evidence)


def _amounts(decision: Decision) -> dict[str, float]:
    evidence = sum(s.is_evidence for s in decision.sentences)
    length = sum(len(s.text) for s in decision.sentences) / len(decision.sentences)
    return {"e": float(evidence), "r": float(len(decision.sentences) - evidence), "len": length}


LOOKS: dict[str, Callable[[Decision], Any]] = {
    "own rules": lambda decision: _words(decision, evidence=False),
    "**own evidence**": lambda decision: _words(decision, evidence=True),
    "**number of its own sentences of either kind, and their length**": _amounts,
    "the findings, held out (the test's own control)": lambda d: " ".join(d.findings),
}


@pytest.mark.slow
@pytest.mark.parametrize("look", list(LOOKS), ids=["rules", "evidence", "amounts", "findings"])
def test_the_card_says_how_much_is_told(look: str, data_dir: Path) -> None:
    path = data_dir / "vetclaims" / "decisions_50.json"
    domain = Veterans(VeteransSettings(path=str(path), claim_file="hidden"))
    cases = [case for case in domain.cases(None, 0) if case.gold.decision != OTHER]
    decisions = [domain.decision(case.history_id) for case in cases]
    found = told(
        [LOOKS[look](decision) for decision in decisions],
        [case.gold.decision for case in cases],
        [case.cluster for case in cases],
    )
    assert found is not None
    print(found)
    (line,) = (x for x in CARD.read_text().splitlines() if x.startswith(f"| {look} |"))
    stated = float(line.split("|")[2].strip(" *").partition(" ")[0])
    assert found.auc == pytest.approx(stated, abs=0.02)
