"""Real answers with a confidence: CAR over thresholds is the reader's, and a conformal check."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import run as command
from framework.analysis.evidence import Job, load
from framework.contracts import Model, Operation, Reply, Req, Res, answer_by_rule
from framework.records import ABSTAIN
from framework.registry import NoSettings, register
from framework.reporting.blocks import Cell, Table, Text
from framework.text.canonical import digest
from plugins.sections.abstention import Abstention
from plugins.sections.calibration import Calibration
from plugins.sections.confidence import SHARES, car_of, conformal_of, curve_of, reliability_of

pytestmark = pytest.mark.slow


@register("model", "test_confident")
class Confident(Model[NoSettings]):
    """Answers by rule; is surer of half of its decisions, and turns round some of the others."""

    kind = "llm"

    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        text = operation.render(answer_by_rule(operation, request))
        if operation.name == "decide":
            said = json.loads(text)
            share = int(digest([operation.prompt(request).user])[7:15], 16) / 16**8
            said["confidence"] = round(0.5 + 0.5 * share, 2)
            if share < 0.4 and said["decision"] in ("APPROVE", "DENY"):
                said["decision"] = "DENY" if said["decision"] == "APPROVE" else "APPROVE"
            text = json.dumps(said)
        return Reply(response=operation.parse(text, request), text=text)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Job]:
    """One arm, read with no threshold, with one of .8, and by a reader that must decide."""
    made: dict[str, Job] = {}
    place = tmp_path_factory.mktemp("runs")
    for name, words in (
        ("verified", ("reader=verified",)),
        ("at .8", ("reader=verified", "reader.threshold=0.8")),
        ("commit", ("reader=commit",)),
    ):
        directory = place / digest(name)[7:12]
        argv = [
            "domain=loan", "arch=full_context", "n_cases=40", "model=test_confident", *words,
            "tracking=none", "report=false", f"hydra.run.dir={directory}",
        ]  # fmt: skip
        assert command.main(argv) == 0
        (made[name],) = load(directory).jobs
    return made


def means(job: Job, axis: str) -> Any:
    return job.summary["axes"][axis]["mean"]


def test_car_at_a_threshold_is_what_the_reader_with_it_gives(jobs: dict[str, Job]) -> None:
    for name, threshold in (("verified", 0.0), ("at .8", 0.8)):
        (found,) = car_of(jobs["verified"], [threshold])
        assert found.committed.mean == pytest.approx(means(jobs[name], "commit_rate"))
        assert found.accuracy.mean == pytest.approx(means(jobs[name], "conditional_accuracy"))
        assert found.right.mean == pytest.approx(means(jobs[name], "commit_all_accuracy"))
    sure, all_ = (means(jobs[n], "conditional_accuracy") for n in ("at .8", "verified"))
    assert sure > all_, "what it is sure of is right"
    assert 0 < means(jobs["at .8"], "commit_rate") < means(jobs["verified"], "commit_rate")


def test_car_falls_in_coverage_as_the_threshold_rises(jobs: dict[str, Job]) -> None:
    found = list(car_of(jobs["commit"]))
    shares = [one.committed.mean or 0.0 for one in found]
    assert shares == sorted(shares, reverse=True)
    assert len(found) == 1 + len(SHARES)
    for share, most in zip(shares[1:], SHARES, strict=True):
        assert most - 0.1 <= share <= most
    group = load(jobs["commit"].path).groups[0]
    (table,) = (
        b for b in Abstention().tables(group) if isinstance(b, Table) and b.anchor == "car-table-0"
    )
    assert [row[2] for row in table.rows] == ["0", *(f"{o.threshold:.3f}" for o in found[1:])]


def test_a_withdrawn_decision_counts_in_no_curve(jobs: dict[str, Job]) -> None:
    job = jobs["at .8"]
    withdrawn = [row for row in job.good if row.decision == ABSTAIN and row.key in job.confidences]
    assert withdrawn
    found, one = curve_of(job), reliability_of(job)
    assert found is not None
    assert one is not None
    assert one.n == sum(row.decision != ABSTAIN for row in job.good)
    assert one.n + one.n_undefined == len(job.good)
    assert min(t for t in found.curve.threshold if math.isfinite(t)) >= 0.8


def test_a_conformal_threshold_is_checked_on_the_other_half(jobs: dict[str, Job]) -> None:
    found = {one.alpha: one for one in conformal_of(jobs["commit"])}
    assert list(found) == [0.05, 0.1, 0.2]
    assert {(one.n, one.n_checked) for one in found.values()} == {(20, 20)}
    assert found[0.2].threshold <= found[0.1].threshold <= found[0.05].threshold
    chosen = found[0.2]
    assert math.isfinite(chosen.threshold)
    assert chosen.committed.mean is not None
    assert chosen.wrong.mean is not None
    assert chosen.wrong.mean <= chosen.committed.mean
    assert chosen.wrong.high is not None
    group = load(jobs["commit"].path).groups[0]
    tables = {b.anchor: b for b in Calibration().tables(group) if isinstance(b, Table)}
    rows = tables["conformal-table-0"].rows
    assert [row[2] for row in rows] == ["0.05", "0.1", "0.2"]
    last = rows[-1]
    assert last[3] == f"{chosen.threshold:.3f}"
    assert isinstance(last[6], Cell)
    assert last[6].value == pytest.approx(chosen.wrong.mean)


def test_too_few_cases_for_any_threshold_are_one_line(jobs: dict[str, Job]) -> None:
    group = load(jobs["commit"].path).groups[0]
    (job,) = group.jobs
    few = replace(job, rows=sorted(job.rows, key=lambda row: row.key)[:12])
    blocks = list(Calibration().tables(replace(group, jobs=[few])))
    (line,) = (b.text for b in blocks if isinstance(b, Text) and "too small" in b.text)
    assert line.endswith("at 0.05 (19 needed, has 6), 0.1 (9 needed, has 6).")
    tables = {b.anchor: b for b in blocks if isinstance(b, Table)}
    assert [row[2] for row in tables["conformal-table-0"].rows] == ["0.2"]
    none = replace(job, rows=few.rows[:6])
    blocks = list(Calibration().tables(replace(group, jobs=[none])))
    assert sum(isinstance(b, Text) for b in blocks) == 1
    assert not any(isinstance(b, Table) and b.anchor == "conformal-table-0" for b in blocks)


def test_a_record_without_an_answer_states_no_confidence(jobs: dict[str, Job]) -> None:
    job = jobs["commit"]
    path = Path(job.path) / "answers.jsonl"
    before = path.read_text()
    unfit = {"error": "", "key": ["c", "a", 0, 0, 0], "prompts": [], "state": "does not fit"}
    try:
        path.write_text(before + json.dumps(unfit) + "\n")
        again = Job(path=job.path, summary=job.summary, manifest=job.manifest, rows=job.rows)
        assert again.confidences == job.confidences
    finally:
        path.write_text(before)
