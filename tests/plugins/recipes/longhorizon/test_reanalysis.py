"""The recorded LongHorizon rows give the published tables, and what corrects them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.contracts.recipe import PrintedCell, PrintedTable
from framework.errors import DataError
from plugins.commands.reanalyze import not_reproduced
from plugins.recipes.longhorizon._changes import changes
from plugins.recipes.longhorizon._corrected import (
    adjusted_tests,
    compared,
    corrected_axis,
    corrected_tables,
)
from plugins.recipes.longhorizon._published import published_tables
from plugins.recipes.longhorizon._rows import ABSTAIN, Recorded, read_rows, strict
from plugins.recipes.longhorizon._sources import strictness_of
from tests.launching import framework

HEADER = "stage,case_id,condition,budget,strictness,gt,decision,FRP,RCS,EDA,CRR\n"


@pytest.fixture(scope="module")
def csv_path(data_dir: Path) -> Path:
    path = data_dir / "recorded" / "longhorizon_rows.csv"
    if not path.is_file():
        pytest.skip(f"no recorded rows: {path}")
    return path


@pytest.fixture(scope="module")
def rows(csv_path: Path) -> list[Recorded]:
    return read_rows(csv_path)


@pytest.fixture(scope="module")
def published(rows: list[Recorded]) -> list[PrintedTable]:
    return published_tables(rows)


def test_labels_read_strictly() -> None:
    assert strict("PAY in full") == "PAY"
    assert strict("partial pay") == "PARTIAL PAY"
    assert strict("UNABLE TO DETERMINE - INSUFFICIENT CLAIM DATA") == ABSTAIN
    assert strict("PENDING - INSUFFICIENT INFORMATION FOR ADJUDICATION") == ABSTAIN
    assert strict("") == ""


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("s,c1,A,tight,,PAY,PAY,x,1,1,1\n", "rows.csv:2: FRP: 'x' is not a number"),
        ("s,c1,A,tight,,PAY,PAY,1,1,1,2\n", "rows.csv:2: CRR: 2.0 is outside [0, 1]"),
        (2 * "stage2,c1,A,tight,,PAY,PAY,1,1,1,1\n", "rows.csv:3: A tight c1 appears twice"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, body: str, problem: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + body)
    with pytest.raises(DataError) as error:
        read_rows(path)
    assert str(error.value).endswith(problem)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(HEADER.replace(",RCS", ""))
    with pytest.raises(DataError, match="no column RCS"):
        read_rows(path)


def test_rounding_to_what_is_printed() -> None:
    assert PrintedCell(value=0.904, text="", printed="0.90").reproduced
    assert not PrintedCell(value=0.904, text="", printed="0.91").reproduced
    assert PrintedCell(value=0.0625, text="", printed="0.063").reproduced
    assert PrintedCell(value=None, text="", printed="1.00").reproduced is False
    assert PrintedCell(value=0.1, text="").reproduced is None


@pytest.mark.parametrize(
    ("arm", "means"),
    [
        ("Summ-only", (0.754, 0.622, 0.833, 0.800)),
        ("Retr-only", (0.049, 0.206, 0.367, 0.567)),
        ("TMC", (0.012, 0.244, 0.300, 0.467)),
        ("Misrouted", (0.652, 0.539, 0.667, 0.633)),
        ("SAM", (0.547, 0.533, 0.800, 0.800)),
        ("DPM", (0.904, 0.800, 1.000, 0.920)),
    ],
)
def test_table_2(published: list[PrintedTable], arm: str, means: tuple[float, ...]) -> None:
    cells = dict(published[1].rows)[arm]
    assert [round(c.value or 0.0, 3) for c in cells[:4]] == list(means)


def test_every_printed_number_but_five_is_reproduced(published: list[PrintedTable]) -> None:
    """One is a slip in the paper; four are Monte Carlo p-values whose draws are not known."""
    missing = not_reproduced(published)
    assert [line.split(":")[0] for line in missing] == [
        "Table 2, DPM, FRP",
        "Table 6, tight RCS, permutation p",
        "Table 6, tight EDA, permutation p",
        "Table 6, tight CRR, permutation p",
        "Table 6, loose FRP, permutation p",
    ]
    assert all("random draws" in line for line in missing[1:])
    by_number = {table.number: table for table in published}
    for number in (1, 3, 4, 5, 7, 8):
        assert all(c.reproduced is not False for _, _, c in by_number[number].cells), number
    vm = [dict(by_number[7].rows)["VM"][1], *(cells[1] for _, cells in by_number[8].rows[:3])]
    assert [cell.value for cell in vm] == [0.2, 0.3, 0.6, 0.7]


def test_strict_labels_change_two_rows(rows: list[Recorded]) -> None:
    assert [(r.arm, r.case_id) for r in rows if float(r.correct) != r.axes["EDA"]] == [
        ("TMC-full", "claim_C02"),
        ("SAM", "claim_C02"),
    ]
    assert corrected_axis(rows, "SAM", "EDA").mean == pytest.approx(0.6)


def test_corrected_notices_need_an_adverse_truth_and_the_right_decision(
    rows: list[Recorded],
) -> None:
    crr = corrected_axis(rows, "Retr-only", "CRR")
    assert (crr.n, crr.n_clusters, crr.low) == (15, 5, None)
    assert crr.mean == pytest.approx(2 / 15)


def test_corrected_tests_are_exact_and_say_what_n_can_reach(rows: list[Recorded]) -> None:
    by_label = {t.label: t for t in adjusted_tests(rows, 6)}
    assert by_label["tight FRP"].found.permutation.p == pytest.approx(2 / 1024)
    assert by_label["tight RCS"].found.permutation.p == pytest.approx(4 / 1024)
    assert by_label["tight EDA"].found.permutation.p == pytest.approx(2 / 32)
    assert by_label["moderate EDA"].found.cannot_conclude
    pair = compared(rows, "DPM", "Summ-only", "loose", "RCS")
    assert pair.bounds.high == pytest.approx(1 - 0.025**0.1)


def test_what_changes_is_listed(rows: list[Recorded], published: list[PrintedTable]) -> None:
    lines = "\n".join(changes(rows, published))
    assert "15 wrong approvals of loans" in lines
    assert "22 in all" in lines
    assert "SAM's gate on EDA: FAIL by the point estimate -> cannot conclude" in lines
    assert [table.number for table in corrected_tables(rows)] == [2, 3, 4, 5, 6, 7, 8]


def test_the_command_prints_both_conventions(
    csv_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = framework(capsys, "reanalyze", "longhorizon", str(csv_path))
    assert done.status == 0
    for part in ("AS PUBLISHED", "201 of 206 printed numbers", "CORRECTED", "WHAT CHANGES"):
        assert part in done.out
    as_json = framework(capsys, "reanalyze", "longhorizon", str(csv_path), "--json")
    assert set(json.loads(as_json.out)) == {"published", "corrected", "not_reproduced", "changes"}


def test_part_of_the_rows_is_a_mistake(
    csv_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = tmp_path / "part.csv"
    part.write_text("".join(csv_path.read_text().splitlines(keepends=True)[:31]))
    message = framework(capsys, "reanalyze", "longhorizon", str(part)).mistake
    assert "not the whole of the recorded runs" in message


@pytest.mark.parametrize(
    ("reader", "strictness"),
    [
        ("verified", "moderate"),
        ("verified(strictness=strict)", "strict"),
        ("verified_strict", "strict"),
        ("verified_permissive", "permissive"),
    ],
)
def test_the_strictness_of_a_reader_however_it_was_chosen(reader: str, strictness: str) -> None:
    assert strictness_of(reader) == strictness
