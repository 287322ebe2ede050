"""What lies open about a claim tells of its decision what the card says, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.studies.leaks.subjects import opened
from benchmarks.studies.leaks.veterans import SEEN, outcome
from plugins.domains.veterans.domain import Veterans

CARD = Path(__file__).parents[4] / "docs" / "reference" / "domains" / "veterans.md"
LOOKS = {
    "rules": "own rules",
    "evidence": "own evidence",
    "amounts": "number of its own sentences of either kind, and their length",
    "findings": "the findings, held out (the test's own control)",
}


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS.values(), ids=list(LOOKS))
def test_the_card_says_how_much_is_told(look: str, data_dir: Path) -> None:
    domain, cases = opened("veterans", data_dir)
    assert isinstance(domain, Veterans)
    found = outcome(SEEN[look], domain, cases)
    assert found is not None
    print(found)
    (line,) = (x for x in CARD.read_text().splitlines() if x.startswith(f"| {look} |"))
    stated = float(line.split("|")[2].strip(" *").partition(" ")[0])
    assert found.auc == pytest.approx(stated, abs=0.02)
