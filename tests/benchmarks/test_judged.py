"""Do numbers that are corrected for a judge's error hold the truth, in strata of few cases too?"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.studies.coverage import Scenario, simulate
from benchmarks.studies.judged import SIZES, main, scenarios
from framework.reporting.markdown import between_markers

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "statistics.md"


def test_the_documented_table_has_every_row() -> None:
    table = between_markers(f"{DOCS}#judged")
    for one in scenarios():
        assert f"| {one.figure} | {one.data} | {one.kind} |" in table
    assert all(f"n = {n} |" in table for n in SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", list(scenarios()), ids=lambda one: f"{one.figure}, {one.data}")
def test_corrected_limits_hold_as_often_as_they_claim(scenario: Scenario) -> None:
    for one in simulate(400, [scenario], (10, 20)):
        assert one.claimed > 0.99
        assert one.rate is not None
        assert one.rate >= 0.92, one.n


def test_it_prints_the_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.studies.judged.SIZES", (10,))
    assert main(["--samples", "2"]) == 0
    out = capsys.readouterr().out
    assert "| corrected share of a stratum |" in out
    assert "2 samples a cell." in out
    with pytest.raises(SystemExit):
        main(["--samples", "0"])
