"""Do the printed intervals hold as often as they claim, and do the tests keep their size?"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import pytest

from benchmarks.studies.coverage import (
    SIZES,
    Scenario,
    Simulated,
    main,
    markdown,
    scenarios,
    simulate,
)
from tests.launching import framework

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "statistics.md"
# Fewer where n is largest: an approximation is worst at its smallest n, and the largest costs most.
SAMPLES = {10: 1_500, 40: 1_500, 200: 500}


def made(rate: float | None, kind: str = "coverage", claimed: float = 1.0) -> Simulated:
    scenario = Scenario(
        figure="f", data="d", kind=kind, claims=True, conservative=False, hit=lambda rng, n: True
    )
    return Simulated(scenario=scenario, n=10, rate=rate, claimed=claimed, samples=1000)


def test_the_table_marks_what_falls_short() -> None:
    def cell(one: Simulated) -> str:
        return markdown([one]).splitlines()[-1].split("|")[-2].strip()

    assert cell(made(0.951)) == "95.1"
    assert cell(made(0.92)) == "92.0!"
    assert cell(made(0.94, claimed=0.6)) == "94.0 (of 60%)"
    assert cell(made(None)) == "none claimed"
    assert cell(made(0.06, "size")) == "6.0"
    assert cell(made(0.08, "size")) == "8.0!"
    assert cell(made(0.002, "error")) == "0.20"
    assert cell(made(0.012, "error")) == "1.20!"  # what BCa limits over 12 clusters had
    assert cell(made(0.175, "spent")) == "17.5!"  # seven times what is spent


def test_simulation_is_the_same_every_time() -> None:
    chosen = scenarios()[:2]
    assert list(simulate(20, chosen, (10,))) == list(simulate(20, chosen, (10,)))


def test_the_documented_table_has_every_row() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for scenario in scenarios():
        assert f"| {scenario.figure} | {scenario.data} | {scenario.kind} |" in text


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--samples", "0"])
    assert "--samples: 0 given" in capsys.readouterr().err
    page = tmp_path / "page.md"
    page.write_text("<!-- result table: begin -->\n<!-- result table: end -->\n")
    data = tmp_path / "coverage.json"
    assert main(["--samples", "2", "--into", str(page), "--data", str(data)]) == 0
    assert "2 samples a cell." in page.read_text()
    assert {entry["method"] for entry in json.loads(data.read_text())} == {
        *("wilson", "bca bootstrap", "bounded mean", "tango score", "cr2 t"),
        "wilson of the effective sample",
    }


@pytest.mark.parametrize("study", ["coverage", "gates"])
def test_the_old_command_says_where_it_went(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"make {study}" in framework(capsys, study, "--into", "page.md").mistake


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "scenario",
    [s for s in scenarios() if s.claims],
    ids=lambda s: f"{s.figure}: {s.data}",
)
def test_claims_hold(scenario: Scenario) -> None:
    """Coverage is claimed from n = 40 on, size and conservative bounds at every n."""
    at_every_n = scenario.kind != "coverage" or scenario.conservative
    sizes = [n for n in SIZES if at_every_n or n >= 40]
    for found in chain.from_iterable(simulate(SAMPLES[n], [scenario], (n,)) for n in sizes):
        slack = 3 * found.standard_error
        if found.rate is None:
            continue
        if scenario.kind != "coverage":
            assert found.rate <= scenario.nominal + slack, found
        elif scenario.conservative:
            assert found.rate >= 0.95 - slack, found
        else:
            assert 0.93 - slack <= found.rate <= 0.97 + slack, found
