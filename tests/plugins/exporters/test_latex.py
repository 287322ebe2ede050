"""`export --to latex`: a sweep's tables as a paper's source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import run as command
from framework.reporting.blocks import NOTHING, Cell, Table
from plugins.exporters.latex import to_latex
from tests.launching import HOTPOT, framework


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exported") / "mine"
    words = ["-m", *HOTPOT, "arch=none,bm25", f"hydra.sweep.dir={place}"]
    assert command.main(words) == 0
    return place


def test_every_number_of_the_table_is_in_it(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tables.tex"
    done = framework(capsys, "export", str(sweep), "--to", "latex", str(path))
    assert (done.status, done.err) == (0, "")
    assert rf"\input{{{path}}}" in done.out
    text = path.read_text(encoding="utf-8")
    printed = framework(capsys, "table", str(sweep)).out
    numbers = re.findall(r"\d*\.\d+", "".join(x for x in printed.splitlines() if x[:1] == "|"))
    assert numbers
    assert re.findall(r"\d*\.\d+", text[text.index(r"\midrule") :]) == numbers
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    first = text.splitlines()[0].split()
    assert first[:4] == ["%", "decisionbench", "verify", str(sweep)]
    assert framework(capsys, *first[2:]).status == 0


@pytest.mark.parametrize(
    ("at", "given", "told"),
    [("..", "{}/mine", "{}/mine"), (".", "mine", "mine"), ("mine", ".", "{}/mine")],
)
def test_its_first_line_runs_where_it_was_exported(
    sweep: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    at: str,
    given: str,
    told: str,
) -> None:
    monkeypatch.chdir(sweep.parent / at)
    parent = sweep.parent.resolve() if at == "mine" else Path(sweep.parent.name)
    path = tmp_path / "tables.tex"
    sweep_ = given.format(parent)
    assert framework(capsys, "export", sweep_, "--to", "latex", str(path)).status == 0
    first = path.read_text(encoding="utf-8").splitlines()[0].split()
    assert first[3] == told.format(parent)
    assert framework(capsys, *first[2:]).status == 0


def test_files_beside_it_are_left_alone(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = [tmp_path / name for name in ("t[ab].tex.partial", "ta.tex.partial-2")]
    for file in mine:
        file.write_text("mine")
    path = tmp_path / "t[ab].tex"
    assert framework(capsys, "export", str(sweep), "--to", "latex", str(path)).status == 0
    assert sorted(tmp_path.iterdir()) == sorted([*mine, path])
    assert [file.read_text() for file in mine] == ["mine", "mine"]


def test_a_run_is_no_sweep(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = next(sweep.glob("*/answers.jsonl")).parent
    done = framework(capsys, "export", str(one), "--to", "latex", str(tmp_path / "t.tex"))
    assert done.status == 2
    assert "not a finished sweep" in done.err
    assert not list(tmp_path.iterdir())


def test_no_text_is_taken_for_a_command() -> None:
    text = to_latex(
        Table(
            anchor="results/tight & more",
            caption="50% of {cases} at $5 # ~1^2 \\input{x}",
            columns=["arm_name", "κ"],
            rows=[
                ["a_b", Cell(text="0.10", brief="0.10† .02–.30", value=0.1)],
                ["c", Cell(text=NOTHING)],
            ],
        ),
        "2026_sweep",
    )
    assert r"\caption{50\% of \{cases\} at \$5 \# \textasciitilde{}1\textasciicircum{}2 " in text
    assert r"\textbackslash{}input\{x\}}" in text
    assert r"\label{tab:2026-sweep-results-tight-more}" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"arm\_name & $\kappa$ \\" in text
    assert r"a\_b & 0.10\dag{} .02--.30 \\" in text
    bare = text.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")


def test_an_empty_table_keeps_its_head() -> None:
    text = to_latex(Table(anchor="a", caption="", columns=["arm", "n"], rows=[]), "s")
    assert r"\begin{tabular}{ll}" in text
    assert r"arm & n \\" in text
