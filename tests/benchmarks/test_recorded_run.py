"""What works on a run of rules works on one of a language model too: a recorded intervention."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from benchmarks.language_model import RECORDED, replaying, sweep
from framework.store.state import load_finished
from tests.launching import framework, run
from tests.measuring import measured_digest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MODEL: Final = "SmolLM2-135M-Instruct, 135M, Q4_1"
ARMS: Final = ("none", "bm25", "typed_graph", "dpm")
"""The prompt of the last does not fit the model's context: nothing was asked of it."""
CASES: Final = "n_cases=6"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the sweep `runs/lm`, tracked in `mlflow.db`, and the recorded answers."""
    found = tmp_path_factory.mktemp("lm")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found)
        words = [CASES, f"arch={','.join(ARMS)}", *replaying(Path(".cache"), RECORDED)]
        words += ["tracking=mlflow", f"tracking.uri=sqlite:///{found}/mlflow.db", "report=true"]
        sweep(Path("runs/lm"), words)
        yield found


@pytest.fixture
def bm25(place: Path) -> Path:
    (found,) = (place / "runs" / "lm").glob("loan-bm25-*")
    return found


def test_it_verifies_and_is_replayed(
    place: Path, bm25: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verified = framework(capsys, "verify", str(place / "runs" / "lm"))
    assert verified.status == 0
    assert verified.out.count(" events, head ") == len(ARMS)
    replayed = framework(capsys, "replay", str(bm25))
    assert (replayed.status, replayed.out) == (0, "same: 6 rows, every measured column equal\n")


def test_the_same_judge_gives_the_same_rows_and_asks_the_model_nothing(
    place: Path, bm25: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = place / "runs" / "again"
    judged = framework(capsys, "rescore", str(bm25), "--out", str(again), "judge=rules")
    assert judged.status == 0, judged.err
    assert framework(capsys, "verify", str(again)).status == 0
    before, after = (load_finished(path).rows for path in (bm25, again))
    assert measured_digest(before) == measured_digest(after)
    assert sum(row.axes["kappa_inserted"] is not None for row in after) == 4


def test_an_arm_that_was_not_asked_stands_as_it_is_and_says_why(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, again = place / "runs" / "lm", place / "runs" / "lm-again"
    judged = framework(capsys, "rescore", str(old), "--out", str(again), "judge=rules")
    assert judged.status == 0, judged.err
    assert framework(capsys, "verify", str(again)).out.count(" events, head ") == len(ARMS)
    assert (again / "comparison.csv").read_bytes() == (old / "comparison.csv").read_bytes()
    (dpm,) = old.glob("loan-dpm-*")
    before, after = (load_finished(path).rows for path in (dpm, again / dpm.name))
    assert measured_digest(before) == measured_digest(after)
    assert {row.state[:15] for row in after} == {"does not fit: 1"}
    shown = framework(capsys, "show", str(dpm), "case=0")
    assert "NOT ASKED does not fit: 11," in shown.out
    sheet = place / "labels.csv"
    labelled = framework(capsys, "label", str(old), "--n", "5", "--out", str(sheet))
    assert labelled.status == 0, labelled.err
    assert sheet.is_file()


def test_the_first_screen_says_which_model_and_shows_the_intervention(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("report.md", "report.html"):
        (place / "runs" / "lm" / name).unlink()
    assert framework(capsys, "report", str(place / "runs" / "lm")).status == 0
    page = (place / "runs" / "lm" / "report.md").read_text(encoding="utf-8")
    first, _, rest = page.partition("## Results")
    assert f"A language model took part ({MODEL}" in first
    assert "Under protocol=intervene: kappa_inserted 0.25 (" in first
    assert ") for none, 0.75 (" in first
    assert "leak_removed" in first
    table = rest.partition("\n\n**")[0]
    assert "| kappa | kappa_inserted | leak_removed |" in table
    html = (place / "runs" / "lm" / "report.html").read_text(encoding="utf-8")
    assert MODEL in html
    assert "kappa_inserted" in html


def test_a_gate_judges_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = [".cache/responses.sqlite", ".cache/vectors.sqlite"]
    done = run(
        capsys,
        *("-m", "+experiment=language_model", CASES, "arch=none,bm25", "report=false"),
        *("tracking=none", f"model.cache={stored[0]}", f"embedder.cache={stored[1]}"),
        *("model.replay=true", "embedder.replay=true", "hydra.sweep.dir=runs/gated"),
        *("gate=noninferiority", "gate.baseline=none", "gate.axes=[kappa_inserted]"),
    )
    assert done.status == 3, done.err
    assert (
        "gate noninferiority for bm25 tight: NOT PASSED. kappa_inserted: cannot conclude"
        in done.err
    )
    assert framework(capsys, "verify", str(place / "runs" / "gated")).status == 0


def test_it_is_tracked_with_its_parameters_axes_and_files(place: Path, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{place}/mlflow.db")
    found = client.search_runs([one.experiment_id for one in client.search_experiments()])
    jobs = [job for job in found if job.data.tags.get("sweep") == "lm"]
    (above,) = {job.data.tags["mlflow.parentRunId"] for job in jobs}
    assert client.get_run(above).data.params["answered_by"].startswith(MODEL)
    of_arm = {job.data.params["arch"]: job for job in jobs}
    assert "axes/kappa_inserted" not in of_arm.pop("dpm").data.metrics
    assert {arm: job.data.metrics["axes/kappa_inserted"] for arm, job in of_arm.items()} == {
        "none": 0.25,
        "bm25": 0.75,
        "typed_graph": 0.75,
    }
    for job in of_arm.values():
        assert job.data.params["protocol"] == "intervene"
        assert (job.data.params["model"], job.data.params["n_cases"]) == ("local", "6")
        assert job.data.tags["answered_by"].startswith(MODEL)
        assert job.data.metrics["interval/kappa_inserted_n"] == 4
        assert job.data.metrics["ledger/unreadable"] == 0
        here = place / "runs" / "lm" / job.data.tags["directory"]
        for name in ("answers.jsonl", "config.yaml", "journal.jsonl", "rows.parquet"):
            copy = Path(client.download_artifacts(job.info.run_id, name, str(tmp_path)))
            assert copy.read_bytes() == (here / name).read_bytes()
    copy = Path(client.download_artifacts(above, "report.html", str(tmp_path)))
    assert MODEL in copy.read_text(encoding="utf-8")
