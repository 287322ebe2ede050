"""Operators beside prose: what the recipe says is what the rows of the runs say."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

import run as command
from framework.analysis.evidence import Job, load
from framework.errors import UserError
from framework.reporting.blocks import Cell, Table
from plugins.recipes.regimes.operators import Operators

COUNT = "count_entities_across_sessions"
GIVEN = (
    *("domain=longmemeval_synthetic", "arch=bm25", "budget=moderate", "n_cases=120", "seed=11"),
    *("extra_axes=[operators]", "tracking=none", "report=false", "reader=guarded"),
)
LATEST = "When a fact changes across sessions, answer with the most recent value."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A sweep without and with an operator, and a run with prose."""
    place = tmp_path_factory.mktemp("operators")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(place)
        swept = [f"reader.operators=[],[{COUNT}]", "hydra.sweep.dir=runs/swept"]
        assert command.main(["-m", *GIVEN, *swept]) == 0
        assert command.main([*GIVEN, f'reader.guidance="{LATEST}"', "run_name=prose"]) == 0
        yield place / "runs" / "swept", place / "runs" / "prose"


def right(job: Job) -> dict[str, float]:
    return {row.case_id: row.axes["answer_correct"] or 0.0 for row in job.rows if row.form_read}


@pytest.mark.slow
def test_fixed_broken_and_fired_are_those_of_the_rows(runs: tuple[Path, Path]) -> None:
    blocks = [b for b in Operators().blocks(runs, lambda drawing: iter(())) if isinstance(b, Table)]
    effects, types = blocks
    base, guarded = load(runs[0]).jobs
    (prose,) = load(runs[1]).jobs
    without = right(base)
    rows = {row[0]: row for row in effects.rows}
    assert list(rows) == [COUNT, LATEST]
    for name, job in ((COUNT, guarded), (LATEST, prose)):
        after = right(job)
        fixed = sum(after[case] > without[case] for case in without)
        broken = sum(after[case] < without[case] for case in without)
        assert fixed + broken > 0, "an addition that changes nothing tests nothing"
        change, *counts = rows[name][1:4]
        assert isinstance(change, Cell)
        assert change.value == pytest.approx((fixed - broken) / len(without))
        assert [c.value for c in counts if isinstance(c, Cell)] == [fixed, broken]
    fired = [row for row in guarded.rows if row.axes["fired"] and row.form_read]
    wrong = [row for row in fired if not row.axes["answer_correct"]]
    assert fired
    counts = rows[COUNT][4:6]
    assert [c.value for c in counts if isinstance(c, Cell)] == [len(fired), len(wrong)]
    assert [cell.text for cell in rows[LATEST][4:7] if isinstance(cell, Cell)] == ["–"] * 3
    by_type = {row[0]: row[1:] for row in types.rows}
    changes = [cell.value or 0.0 for cell in by_type[COUNT] if isinstance(cell, Cell)]
    whole = sum(right(guarded).values()) - sum(without.values())
    assert sum(changes) == pytest.approx(whole)


@pytest.mark.slow
def test_runs_without_a_counterpart_are_told(runs: tuple[Path, Path]) -> None:
    with pytest.raises(UserError, match=r"needs runs or sweeps of reader=guarded"):
        list(Operators().blocks([runs[1]], lambda drawing: iter(())))
