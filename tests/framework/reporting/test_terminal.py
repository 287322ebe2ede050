"""What the terminal shows at 80 columns: whole numbers, every budget, every line within it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from framework.reporting.blocks import Cell, Details, Table, Text
from framework.reporting.terminal import print_blocks, table_lines
from tests.launching import HOTPOT, Done, framework, read_json, run

ARMS = "bm25,none,random_context"
PLACE = re.compile(r"^(run|sweep|page|next|  ): |^/")
"""Lines that name a path or a command, which are copied whole."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def readable(done: Done) -> str:
    """What was printed, if every line of it is whole within 80 columns."""
    assert done.out.strip(), done.err
    for line in done.out.splitlines():
        assert len(line) <= 80 or PLACE.search(line) or len(line.split()) == 1, line
        assert "…" not in line, line
    return done.out


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_terminal_output_is_whole_at_80_columns(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    one = run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=one")
    summary = read_json(place / "one/summary.json")
    shown = [axis for axis in summary["headline"] if axis in summary["axes"]]
    assert "recall_at_2" in shown
    for axis in shown:  # what needs an answer has none here
        assert axis in readable(one)
    many = run(capsys, "-m", *HOTPOT, f"arch={ARMS}", "budget=tight,loose", "hydra.sweep.dir=many")
    assert {"tight", "loose"} <= set(re.findall(r"tight|loose", readable(many)))
    compared = readable(framework(capsys, "compare", "many"))
    for budget in ("tight", "loose"):
        assert re.search(rf"Decided: .*\d+ of \d+ at budget {budget}", " ".join(compared.split()))
    rows = read_json(place / "many/sweep.json")["comparisons"]
    shown = re.findall(r"[+-]\d\.\d{3,}", compared)
    assert {f"{row['delta']:+.3f}" for row in rows if row["delta"] is not None} <= set(shown)
    gated = run(capsys, *HOTPOT, "arch=none", "gate.baseline=one", "gate.axes=[mrr]")
    assert "gate noninferiority for none tight: FAILED" in " ".join(readable(gated).split())
    readable(framework(capsys, "report", "one"))
    readable(framework(capsys, "report", "--list"))
    readable(framework(capsys, "list"))
    first = (place / "one/answers.jsonl").read_text().split('"key":["')[1].split('"')[0]
    readable(framework(capsys, "show", "one", f"case={first}"))
    readable(framework(capsys, "show", "domain=loan", "case=0"))
    readable(framework(capsys, "estimate", *HOTPOT, "arch=bm25"))


def table(columns: Sequence[str], *rows: Sequence[Cell | str]) -> Table:
    return Table(anchor="t", caption="A caption", columns=columns, rows=rows)


def number(text: str, under: str = "") -> Cell:
    return Cell(text=text, under=under, value=1.0)


def test_a_wide_table_goes_on_below_under_the_same_names() -> None:
    axes = [f"axis_number_{i}" for i in range(12)]
    cells = [number(f"0.{i:03}", "[.1, .2]") for i in range(12)]
    made = table(["arm", *axes], ["long_name", *cells])
    lines = list(table_lines(made, 60))
    assert max(map(len, lines)) <= 60
    assert len([line for line in lines if line.startswith("long_name")]) > 1
    shown = "\n".join(lines)
    assert all(f"0.{i:03}" in shown for i in range(12))
    assert shown.count("[.1, .2]") == 12


def test_words_break_before_a_table_is_taken_apart() -> None:
    told = "too few cases to reach any conclusion at this level"
    made = table(["arm", "mean", "conclusion"], ["bm25", number("0.123"), told])
    lines = list(table_lines(made, 50))
    assert max(map(len, lines)) <= 50
    assert set(told.split()) <= set(" ".join(lines).split())
    assert len([line for line in lines if "0.123" in line]) == 1


def test_a_number_wider_than_the_terminal_is_whole() -> None:
    made = table(["arm", "n"], ["x" * 30, number("1" * 30)])
    assert "1" * 30 in "\n".join(table_lines(made, 40))


def test_what_is_folded_is_left_to_the_page_where_there_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    block = Details("All of it", [Text("inside")])
    print_blocks([block])
    assert capsys.readouterr().out == "(All of it: on the page)\n"
    print_blocks([block], folded=False)
    assert capsys.readouterr().out == "inside\n"
