"""Facts in the form and in words, of the runs of a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.analysis.evidence import load
from framework.errors import UserError
from framework.registry import find
from framework.reporting.blocks import Table
from framework.reporting.cells import entry_cell
from tests.launching import run


def test_each_arm_has_its_facts_in_the_form_and_in_words(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    done = run(
        capsys, "-m", "domain=loan,claims", "arch=bm25,sam", "budget=loose", "n_cases=6",
        "tracking=none", "report=false", f"hydra.sweep.dir={runs_dir / 'sweep'}",
    )  # fmt: skip
    assert done.status == 0, done.err
    prose = find("recipe", "longhorizon/prose").cls()
    (table,) = (b for b in prose.blocks([runs_dir / "sweep"], None) if isinstance(b, Table))
    assert table.columns == ("domain", "arm", "loose, form", "loose, words")
    assert [row[:2] for row in table.rows] == [
        [domain, arm] for domain in ("loan", "claims") for arm in ("bm25", "SAM")
    ]
    for job in load(runs_dir / "sweep").jobs:
        names = [str(job.summary["run"]["domain"]), {"sam": "SAM"}.get(job.arm, job.arm)]
        (row,) = (row for row in table.rows if row[:2] == names)
        axes = job.summary["axes"]
        assert row[2:] == [entry_cell(axes["frp"]), entry_cell(axes["frp_prose"])]
        assert 0 <= axes["frp_prose"]["mean"] <= axes["frp"]["mean"]


def test_runs_without_facts_have_no_such_table(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    done = run(
        capsys, "arch=bm25", "protocol=retrieve", "n_cases=2", "tracking=none", "report=false",
        f"hydra.run.dir={runs_dir / 'one'}",
    )  # fmt: skip
    assert done.status == 0, done.err
    with pytest.raises(UserError, match="the runs have no frp"):
        list(find("recipe", "longhorizon/prose").cls().blocks([done.directory], None))
