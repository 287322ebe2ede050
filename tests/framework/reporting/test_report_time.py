"""A report of ten arms at three budgets on a hundred cases is made in seconds."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from framework.analysis.evidence import Evidence, Job, load
from framework.analysis.sweep import sweep_summary
from framework.reporting.html import to_html
from framework.reporting.markdown import to_markdown
from framework.reporting.page import FigureWriter, page
from tests.framework.analysis.of_rows import axes_of_rows
from tests.launching import LOAN, run

SECONDS = 20.0
ARMS, BUDGETS, CASES = 10, ("tight", "moderate", "loose"), 100


def grown(job: Job, arm: str, budget: str) -> Job:
    """The job with another arm's name and its cases repeated under new ids until there are 100."""
    copies = -(-CASES // len(job.rows))
    rows = [
        replace(row, arm=arm, case_id=f"{row.case_id}-{i}", cluster=f"{row.case_id}-{i}")
        for i in range(copies)
        for row in job.rows
    ][:CASES]
    kinds = {axis: entry["kind"] for axis, entry in job.summary["axes"].items()}
    axes = {a: {**e, "kind": kinds[a]} for a, e in axes_of_rows(rows, 7).items()}
    labels = {**job.summary["run"], "arch": arm, "budget": budget, "n_cases": CASES}
    return Job(
        path=job.path,
        summary={**job.summary, "run": labels, "axes": axes},
        manifest=job.manifest,
        rows=rows,
    )


@pytest.mark.slow
def test_a_large_report_is_made_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "-m", *LOAN, "arch=bm25,oracle", "n_cases=25")
    small = load(done.directory)
    jobs = [grown(small.jobs[i % 2], f"arm{i}", budget) for budget in BUDGETS for i in range(ARMS)]
    sweep = sweep_summary(
        [job.summary for job in jobs],
        [job.rows for job in jobs],
        [f"job{i}" for i in range(len(jobs))],
        baseline="arm0",
        smallest_effect=0.05,
    )
    evidence = Evidence(
        path=done.directory, jobs=jobs, sweep={**sweep, "baseline": "arm0"}, plan=small.plan
    )
    began = time.process_time()
    made = page(evidence, FigureWriter(tmp_path / "figures"))
    html, markdown = to_html(made), to_markdown(made)
    took = time.process_time() - began
    assert took < SECONDS
    assert html.count("<figure") == 8
    assert all(f"arm{i}" in markdown for i in range(ARMS))
