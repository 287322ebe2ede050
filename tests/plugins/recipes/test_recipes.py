"""Recipes from recorded rows and from a small measured sweep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import run as command
from framework.analysis.evidence import load
from framework.contracts.recipe import PrintedCell
from framework.registry import plugins
from plugins.recipes._cells import beside
from plugins.recipes.longhorizon._rows import AXES
from plugins.recipes.longhorizon._sources import rows_of
from tests.launching import framework

pytestmark = pytest.mark.slow

LONGHORIZON = [f"longhorizon/table{n}" for n in range(1, 9)]
REGIMES = ["table1b", "table1c", "figure3", "figure4", "figure5", "sections"]


@pytest.fixture(scope="module")
def recorded(data_dir: Path) -> Path:
    path = data_dir / "recorded"
    if not path.is_dir():
        pytest.skip(f"no recorded rows: {path}")
    return path


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recipes") / "sweep"
    arms = "arch=summ_only,retr_only_fifo,dpm"
    small = ["n_cases=4", "tracking=none", f"hydra.sweep.dir={place}"]
    assert command.main(["-m", "domain=loan", arms, "budget=tight,moderate", *small]) == 0
    return place


def test_a_printed_number_stands_under_the_measured_one() -> None:
    same = beside(PrintedCell(value=0.754, text="0.754", printed="0.75"))
    assert (same.text, same.under, same.value) == ("0.754", "printed 0.75 (same)", 0.754)
    other = beside(PrintedCell(value=0.904, text="0.904", printed="0.91"))
    assert other.under == "printed 0.91 (-0.01)"
    assert beside(PrintedCell(value=43, text="43", printed="44")).under == "printed 44 (-1)"
    assert beside(PrintedCell(value=0.5, text="0.5")).under == ""
    assert beside(PrintedCell(value=None, text="-", printed="0.75")).under == "printed 0.75"


def test_every_recipe_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    done = framework(capsys, "report", "--list")
    assert done.status == 0
    for recipe in plugins("recipe"):
        assert recipe.name in done.out
        assert recipe.cls.needs or recipe.name == "depth/laws"
        assert recipe.cls.source
    assert len(plugins("recipe")) >= 16


@pytest.mark.parametrize("name", [*LONGHORIZON, *(f"longhorizon/figure{n}" for n in (3, 4, 5))])
def test_longhorizon_from_recorded_rows(
    name: str, recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv = str(recorded / "longhorizon_rows.csv")
    done = framework(capsys, "report", "--recipe", name, csv, "--to", str(tmp_path / "page"))
    assert done.status == 0, done.err
    page = (tmp_path / "page" / "report.html").read_text()
    assert "that the authors recorded" in page
    if "table" in name:
        assert "(same)" in page
    else:
        assert list((tmp_path / "page" / "figures").glob("*.svg"))
    assert "://" not in page


@pytest.mark.parametrize("name", REGIMES)
def test_regimes_from_recorded_loops(
    name: str, recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = ["--to", str(tmp_path / "page")]
    done = framework(capsys, "report", "--recipe", f"regimes/{name}", str(recorded), *target)
    assert done.status == 0, done.err
    if name == "table1b":
        assert "7.3e-05" in done.out
        assert "0.0625" in done.out
    if name == "table1c":
        assert "printed 44 (-1)" in done.out


def test_a_sweep_is_read_as_the_paper_names_its_arms(sweep: Path) -> None:
    rows = rows_of([sweep])
    assert {row.arm for row in rows} == {"Summ-only", "Retr-only", "DPM"}
    assert {row.budget for row in rows} == {"tight", "moderate"}
    read = {row.case_id for job in load(sweep).jobs for row in job.rows if row.form_read}
    assert 0 < len(read) < 4
    assert len(rows) == 3 * 2 * len(read)
    directory = next(path for path in sweep.glob("loan-dpm-tight-*"))
    summary = json.loads((directory / "summary.json").read_text())
    mine = [row for row in rows if (row.arm, row.budget) == ("DPM", "tight")]
    for axis, ours in zip(AXES, ("frp", "rcs", "eda", "crr_published"), strict=True):
        mean = sum(row.axes[axis] for row in mine) / len(mine)
        assert mean == pytest.approx(summary["axes"][ours]["mean"])


def test_a_sweep_is_said_to_be_measured_here(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = ["--to", str(tmp_path / "page")]
    done = framework(capsys, "report", "--recipe", "longhorizon/table2", str(sweep), *target)
    assert done.status == 0
    assert "Measured here on 3 generated cases" in done.out
    assert "no evidence about language models" in " ".join(done.out.split())
    assert "TMC" not in done.out


def test_the_verified_reader_as_it_is_stands_in_table_7_and_at_its_strictness_in_table_8(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "sweep"
    readers = "reader=commit,verified,verified_strict"
    small = ["n_cases=4", "tracking=none", "report=false", f"hydra.sweep.dir={place}"]
    words = ["-m", "domain=loan", "arch=summ_only", "budget=moderate", readers, *small]
    assert command.main(words) == 0
    capsys.readouterr()
    by_table = {}
    for number in (7, 8):
        to = ["--to", str(tmp_path / f"page{number}")]
        done = framework(
            capsys, "report", "--recipe", f"longhorizon/table{number}", str(place), *to
        )
        lines = [one.split(" | ") for one in done.out.splitlines() if "VM" in one[:6]]
        by_table[number] = {name.strip("| "): cells for name, *cells in lines}
    assert by_table[7].keys() == {"VM"}
    assert by_table[8].keys() == {"VM (strict)", "VM (moderate)"}
    counted = [cells[0].split()[0] for cells in (by_table[7]["VM"], by_table[8]["VM (moderate)"])]
    assert counted == ["3", "3"], "the cases in a wording that the reader was made to read"


def test_mistakes(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = framework(capsys, "report", "--recipe", "longhorizon/table33", str(sweep))
    assert "longhorizon/table3" in wrong.mistake
    target = ["--to", str(tmp_path / "page")]
    lacking = framework(capsys, "report", "--recipe", "longhorizon/table5", str(sweep), *target)
    assert "lack its arms" in lacking.mistake
    assert not (tmp_path / "page").exists()
    assert "needs a run or sweep" in framework(capsys, "report").mistake
    assert (
        "+experiment=depth/fidelity"
        in framework(capsys, "report", "--recipe", "depth/fidelity").mistake
    )


def test_a_page_that_is_made_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = framework(capsys, "report", "--recipe", "depth/laws", "--to", str(tmp_path / "page"))
    assert done.status == 0
    assert "| traversal_recall | Theorem 9 | proven | recall |" in done.out
