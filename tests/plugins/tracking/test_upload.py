"""What stands in MLflow after an upload is what stands in the run directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.config import load_plan
from framework.errors import TrackingError, UserError
from framework.reporting.page import write_report
from framework.store import JOURNAL, MANIFEST, read, verify_run
from framework.store.directory import ANSWERS, COMPARISON, CONFIG, ROWS, SWEEP, SWEEP_PLAN
from framework.store.state import SUMMARY, load_state, read_summary
from plugins.tracking import _content
from tests.plugins.tracking.runs import (
    finished_run,
    finished_sweep,
    planned,
    tracker,
    write_results,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # within MLflow

Stored = Callable[[], "list[Run]"]


def test_a_run_is_uploaded_whole(tmp_path: Path, uri: str, stored: Stored) -> None:
    plan = finished_run(tmp_path / "run", uri)
    told = tracker(plan).upload_run(tmp_path / "run", None)
    (run,) = stored()
    assert run.info.run_id in told
    assert run.info.run_name == "trivial trivial tight"
    assert run.info.status == "FINISHED"

    summary = read_summary(tmp_path / "run")
    entry = summary["axes"]["right"]
    metrics = run.data.metrics
    assert metrics["axes/right"] == entry["mean"]
    assert metrics["interval/right_low"] == entry["ci_low"] < metrics["axes/right"]
    assert metrics["interval/right_high"] == entry["ci_high"]
    assert metrics["interval/right_n"] == entry["n"] == 12
    assert metrics["budget_use/budget_tokens"] == 20
    assert metrics["budget_use/mean_view_tokens"] == summary["budget_use"]["mean_view_tokens"]
    assert metrics["ledger/tokens_per_case"] == 0
    assert metrics["errors/n"] == 0

    params = run.data.params
    assert params["arch"] == "trivial"
    assert params["budget"] == "tight"
    assert params["budget.limit"] == "20", "it has no default"
    assert params["n_cases"] == "12"
    assert "arch.plugin" not in params
    assert not [key for key in params if key.startswith(("tracking", "max_errors", "resume"))]

    assert (
        run.data.tags["head_hash"]
        == json.loads((tmp_path / "run" / MANIFEST).read_text())["head_hash"]
    )
    assert run.data.tags["identity"] == plan.digest
    assert run.data.tags["model_kind"] == "rule-based"
    assert run.data.tags["gate"] == f"noninferiority: {summary['gate']['reason']}"
    assert run.data.tags["directory"] == "run"
    assert run.data.tags["domain_version"] == plan.parts["domain"].plugin.cls.version
    (data,) = run.inputs.dataset_inputs
    assert data.dataset.name == "trivial"


def test_the_page_says_what_a_rule_based_number_is(
    tmp_path: Path, uri: str, stored: Stored
) -> None:
    plan = finished_run(tmp_path / "run", uri)
    tracker(plan).upload_run(tmp_path / "run", None)
    note = stored()[0].data.tags[_content.NOTE]
    assert note.startswith("## Verdict\n\n- right: at ")
    assert "\n> Rule-based model: no language model was called." in note
    entry = read_summary(tmp_path / "run")["axes"]["right"]
    interval = f"[{entry['ci_low']:.3f}, {entry['ci_high']:.3f}]"
    assert f"| right | {entry['mean']:.3f}† | {interval} | 12 | rule-based |" in note.replace(
        "\\", ""
    )


@pytest.mark.parametrize(("races", "whole"), [(2, True), (9, False)])
def test_data_that_another_process_has_just_made_is_logged_again(
    races: int, whole: bool, tmp_path: Path, uri: str, stored: Stored,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    log, refused = MlflowClient.log_inputs, []

    def raced(self: MlflowClient, *args: object, **kwargs: object) -> None:
        if len(refused) < races:
            refused.append(1)
            raise MlflowException('violates unique constraint "dataset_pk"', error_code=3)
        log(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(MlflowClient, "log_inputs", raced)
    plan = finished_run(tmp_path / "run", uri)
    if whole:
        tracker(plan).upload_run(tmp_path / "run", None)
        (run,) = stored()
        assert len(run.inputs.dataset_inputs) == 1
    else:
        with pytest.raises(TrackingError, match="dataset_pk"):
            tracker(plan).upload_run(tmp_path / "run", None)
        assert len(refused) == 4


def test_times_are_those_of_the_run(tmp_path: Path, uri: str, stored: Stored) -> None:
    from datetime import datetime

    plan = finished_run(tmp_path / "run", uri)
    tracker(plan).upload_run(tmp_path / "run", None)
    events = list(read(tmp_path / "run" / JOURNAL))
    first, last = (datetime.fromisoformat(e.time).timestamp() for e in (events[0], events[-1]))
    (run,) = stored()
    assert run.info.start_time == pytest.approx(first * 1000, abs=1)
    assert run.info.end_time == pytest.approx(last * 1000, abs=1)


def test_artifacts_are_the_files_themselves(
    tmp_path: Path, uri: str, client: MlflowClient, stored: Stored
) -> None:
    plan = finished_run(tmp_path / "run", uri)
    tracker(plan).upload_run(tmp_path / "run", None)
    run_id = stored()[0].info.run_id
    names = {item.path for item in client.list_artifacts(run_id)}
    assert names == {CONFIG, MANIFEST, SUMMARY, ROWS, JOURNAL, ANSWERS}
    for name in names:
        copy = Path(client.download_artifacts(run_id, name, str(tmp_path)))
        assert copy.read_bytes() == (tmp_path / "run" / name).read_bytes()
    assert (tmp_path / "store" / "artifacts").is_dir()


def test_a_file_too_large_is_named(
    tmp_path: Path,
    uri: str,
    client: MlflowClient,
    stored: Stored,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = finished_run(tmp_path / "run", uri)
    limit = (tmp_path / "run" / ANSWERS).stat().st_size - 1
    monkeypatch.setattr(_content, "LARGEST_ARTIFACT", limit)
    tracker(plan).upload_run(tmp_path / "run", None)
    (run,) = stored()
    assert ANSWERS not in {item.path for item in client.list_artifacts(run.info.run_id)}
    assert f"{ANSWERS} (0 MiB) is in the run directory only" in run.data.tags["artifacts_left_out"]
    assert f"Left out: {ANSWERS}" in run.data.tags[_content.NOTE]


def test_a_value_too_long_is_told_by_its_digest(
    tmp_path: Path, uri: str, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_content, "LONGEST_PARAM", 1)
    plan = finished_run(tmp_path / "run", uri)
    tracker(plan).upload_run(tmp_path / "run", None)
    limit = stored()[0].data.params["budget.limit"]
    assert limit.startswith("sha256:")
    assert limit.endswith(f"characters, in full in {CONFIG})")


def test_an_uploaded_run_still_verifies(tmp_path: Path, uri: str) -> None:
    plan = finished_run(tmp_path / "run", uri)
    tracker(plan).upload_run(tmp_path / "run", None)
    assert verify_run(tmp_path / "run").ok
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]
    kept = json.loads((tmp_path / "run" / "tracking.json").read_text())
    assert (kept["uri"], kept["complete"]) == (uri, True)


def test_a_sweep_folds_its_runs_under_one(
    tmp_path: Path, uri: str, client: MlflowClient, stored: Stored
) -> None:
    runs = finished_sweep(tmp_path / "sweep", uri)
    mlflow = tracker(planned(uri))
    for run in runs:
        mlflow.upload_run(run, tmp_path / "sweep")
    mlflow.upload_sweep(tmp_path / "sweep")
    found = stored()
    (parent,) = (r for r in found if "mlflow.parentRunId" not in r.data.tags)
    children = [r for r in found if r is not parent]
    assert {r.data.tags["mlflow.parentRunId"] for r in children} == {parent.info.run_id}
    assert {r.info.run_name for r in children} == {
        "trivial trivial tight", "trivial trivial loose",
        "trivial hostile tight", "trivial hostile loose",
    }  # fmt: skip
    assert {r.info.status for r in found} == {"FINISHED"}
    name = "trivial† undecided +.50 (.14–.75) or more vs hostile in right; trivial, 2 arms, "
    assert parent.info.run_name == f"{name}tight, loose"
    assert [data.dataset.name for data in parent.inputs.dataset_inputs] == ["trivial"]
    assert parent.info.start_time == min(r.info.start_time for r in children)
    assert parent.info.end_time == max(r.info.end_time for r in children)
    assert parent.data.params["arch"] == "trivial, hostile"
    assert parent.data.params["domain"] == "trivial"
    assert len({r.data.metrics["axes/right"] for r in children}) > 1
    sweep = json.loads((tmp_path / "sweep" / SWEEP).read_text())
    assert {row["conclusion"] for row in sweep["comparisons"]} == {"undecided"}
    assert {k: v for k, v in parent.data.metrics.items() if not k.startswith("at_a_glance/")} == {
        "comparisons/n": 2, "comparisons/decided": 0, "comparisons/undecided": 2, "errors/n": 0,
    }  # fmt: skip
    best = parent.data.metrics["at_a_glance/right_best"]
    assert best in {r.data.metrics["axes/right"] for r in children}
    assert {r.data.tags["sweep"] for r in children} == {"sweep"}
    assert {item.path for item in client.list_artifacts(parent.info.run_id)} == {
        SWEEP, COMPARISON, SWEEP_PLAN,
    }  # fmt: skip


@pytest.mark.slow
def test_a_report_and_its_figures_are_uploaded_whenever_they_are_written(
    tmp_path: Path, uri: str, client: MlflowClient, stored: Stored
) -> None:
    runs = finished_sweep(tmp_path / "sweep", uri)
    mlflow = tracker(planned(uri))
    mlflow.upload_run(runs[0], tmp_path / "sweep")
    for directory in (runs[0], tmp_path / "sweep"):
        write_report(directory)
    mlflow.upload_run(runs[0], tmp_path / "sweep")
    mlflow.upload_sweep(tmp_path / "sweep")
    found = stored()
    assert len(found) == 2, "nothing is made twice"
    for run in found:
        here = runs[0] if "mlflow.parentRunId" in run.data.tags else tmp_path / "sweep"
        run_id = run.info.run_id
        names = {item.path for item in client.list_artifacts(run_id)}
        assert {"report.html", "report.md"} <= names
        copy = Path(client.download_artifacts(run_id, "report.html", str(tmp_path)))
        assert copy.read_bytes() == (here / "report.html").read_bytes()
        pictures = {item.path for item in client.list_artifacts(run_id, "figures")}
        drawn = (here / "figures").glob("*") if (here / "figures").is_dir() else ()
        assert pictures == {f"figures/{path.name}" for path in drawn}
    assert any((tmp_path / "sweep" / "figures").iterdir())


def test_a_sweep_with_a_job_missing_is_not_called_finished(
    tmp_path: Path, uri: str, stored: Stored
) -> None:
    runs = finished_sweep(tmp_path / "sweep", uri)
    mlflow = tracker(planned(uri))
    plans = [load_plan(run) for run in runs]
    aside = runs[3].rename(tmp_path / "aside")
    write_results(tmp_path / "sweep", plans)
    mlflow.upload_sweep(tmp_path / "sweep")
    assert [run.info.status for run in stored()] == ["FAILED"]
    aside.rename(runs[3])
    write_results(tmp_path / "sweep", plans)
    mlflow.upload_sweep(tmp_path / "sweep")
    (parent,) = stored()
    assert parent.info.status == "FINISHED"
    assert parent.data.params["arch"] == "trivial, hostile"


def test_an_unfinished_run_is_refused(tmp_path: Path, uri: str, stored: Stored) -> None:
    plan = finished_run(tmp_path / "run", uri)
    journal = tmp_path / "run" / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    assert load_state(tmp_path / "run").finished is None
    with pytest.raises(UserError, match="is not finished; resume it with resume="):
        tracker(plan).upload_run(tmp_path / "run", None)
    assert stored() == []
    with pytest.raises(UserError, match="is not a run directory"):
        tracker(plan).upload_run(tmp_path, None)


def test_a_deleted_experiment_is_told(
    tmp_path: Path, uri: str, client: MlflowClient, stored: Stored
) -> None:
    plan = finished_run(tmp_path / "run", uri)
    client.delete_experiment(client.create_experiment("decisionbench"))
    with pytest.raises(TrackingError, match="experiment 'decisionbench' was deleted"):
        tracker(plan).upload_run(tmp_path / "run", None)


def test_none_uploads_nothing(tmp_path: Path) -> None:
    from framework.registry import find, settings_of

    plugin = find("tracking", "none")
    none = plugin.cls(settings_of(plugin, {}))
    assert "stays where it is" in none.upload_run(tmp_path, None)
    assert "stays where it is" in none.upload_sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_verdicts_of_a_preregistration_are_tags_of_the_sweep(tmp_path: Path) -> None:
    finished_sweep(tmp_path / "s", None)
    assert "prereg" not in _content.sweep_upload(tmp_path / "s").tags
    file = tmp_path / "s" / "sweep.json"
    sweep = json.loads(file.read_text(encoding="utf-8"))
    verdicts = [{"hypothesis": {"name": name}, "outcome": "supported"} for name in ("h1", "h2")]
    judged = {"plan": {"name": "mine"}, "verdicts": verdicts, "flags": ["late", "changed"]}
    file.write_text(json.dumps({**sweep, "prereg": judged}))
    tags = _content.sweep_upload(tmp_path / "s").tags
    assert tags["prereg"] == "mine: h1 supported, h2 supported"
    assert tags["prereg_flags"] == "2"
