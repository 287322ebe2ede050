"""Tables and sheets as CSV: what a stranger wrote is text in every spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from framework.analysis.sheets import read_labels, write_rows, write_table
from framework.engine.sweep import write_sweep

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def cells(text: str) -> list[str]:
    """The cells of a table's first row."""
    return list(csv.reader(io.StringIO(text, newline="")))[1]


def written(*values: object) -> str:
    file = io.StringIO(newline="")
    columns = [str(n) for n in range(len(values))]
    write_table(file, columns, [dict(zip(columns, values, strict=True))])
    return file.getvalue()


@pytest.mark.parametrize("start", STARTS)
def test_a_text_that_begins_like_a_formula_is_a_text(start: str) -> None:
    hostile = f"{start}cmd|' /C calc'!A0"
    assert cells(written(hostile)) == ["'" + hostile]
    assert cells(written(f"Paris;{hostile}")) == [f"Paris;'{hostile}"]


def test_numbers_and_other_texts_stay_as_they_are() -> None:
    values = (-0.5, 1e-9, -3, True, None, "", "a = b", "x - 1; - y", "a\n- b\n- c", "me@b.c")
    assert cells(written(*values)) == ["" if v is None else str(v) for v in values]


def test_quotes_commas_and_lines_end_no_cell() -> None:
    assert cells(written('","=1+1', "a\r\n=1+1", ",=1+1")) == ['","=1+1', "a\r\n=1+1", ",=1+1"]


def test_a_filled_sheet_of_hostile_texts_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_rows(path, ("id", "asked", "label"), [{"id": "a1", "asked": "=1+1", "label": "yes"}])
    assert path.read_text() == "id,asked,label\na1,'=1+1,yes\n"
    assert read_labels(path, str.upper, "a word") == {"a1": "YES"}


def test_the_names_in_a_comparison_are_texts(tmp_path: Path) -> None:
    row = {"arm_a": "@SUM(A1:A9)", "arm_b": "-1+1", "delta": -0.25, "ci_low": None}
    write_sweep(tmp_path, {"comparisons": [row]})
    held = (tmp_path / "comparison.csv").read_text(encoding="utf-8")
    assert cells(held) == ["'@SUM(A1:A9)", "'-1+1", "-0.25", ""]
