"""`export --to mlflow`: read again by MLflow's own client."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import mlflow
import pytest
from mlflow import MlflowClient
from mlflow.entities import NoOpSpan
from mlflow.tracing.client import TracingClient

import run as command
from framework.store.state import load_finished
from tests.launching import HOTPOT, LOAN, QUESTIONS, framework
from tests.plugins.protocols.improve.scripted import run_script, script_plan


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exported") / "mine"
    argv = [*LOAN, "n_cases=3", "arch=bm25", "budget=loose", f"hydra.run.dir={place}"]
    assert command.main(argv) == 0
    return place


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Any type hint")
def test_mlflow_reads_each_case_as_a_trace_and_as_a_record(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[threading.Thread] = []

    def start_trace(self: TracingClient, info: Any) -> Any:
        sent.append(threading.current_thread())
        return plain(self, info)

    plain = TracingClient.start_trace
    monkeypatch.setattr(TracingClient, "start_trace", start_trace)
    monkeypatch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "true")
    path, before = tmp_path / "traces.db", mlflow.get_tracking_uri()
    rows = {row.case_id: row for row in load_finished(run).rows}
    first, second, left_out = sorted(rows)
    words = ["export", str(run), "--to", "mlflow", str(path), f"case={first}", f"case={second}"]
    done = framework(capsys, *words)
    assert done.status == 0, done.err
    assert f"2 traces; open it with: mlflow ui --backend-store-uri sqlite:///{path}" in done.out
    assert [file.name for file in tmp_path.iterdir()] == ["traces.db"]
    assert mlflow.get_tracking_uri() == before
    assert "Failed" not in done.err
    assert set(sent) == {threading.main_thread()}, "or the spans of a trace may come before it"
    assert os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] == "true"

    client = MlflowClient(tracking_uri=f"sqlite:///{path}")
    (experiment,) = (e for e in client.search_experiments() if e.name == "mine")
    traces: dict[str, Any] = {
        trace.info.tags["case"]: trace
        for trace in client.search_traces(locations=[experiment.experiment_id])
    }
    assert set(traces) == {first, second}
    for case, trace in traces.items():
        row, spans = rows[case], {span.name: span for span in trace.data.spans}
        assert list(spans) == [f"case {case}", "recall", "decide"]
        assert spans[f"case {case}"].outputs["decision"] == row.decision
        assert len(spans["recall"].outputs) > 1
        assert spans["decide"].inputs["user"]
        kinds = {span.name: span.span_type for span in trace.data.spans}
        assert kinds["decide"] == "TASK", "rules are no chat model"
        told = {name: trace.info.tags[name] for name in ("model_kind", "answered_by", "form_read")}
        assert told == {
            "model_kind": "rule-based",
            "answered_by": "rule_based",
            "form_read": str(row.form_read),
        }
        assert trace.info.tags["domain_version"] == row.domain_version
        place = trace.info.tags["mlflow.artifactLocation"]
        assert place.startswith("mlflow-artifacts:/"), "what `mlflow ui` serves"
        said = {a.name: a for a in trace.info.assessments}
        measured = {name: a.feedback.value for name, a in said.items() if a.feedback}
        assert measured["surface_ceiling"] == row.axes["surface_ceiling"]
        if row.form_read:
            assert measured["success"] == row.success
            assert measured["eda"] == row.axes["eda"]
        else:
            assert set(measured) == {"surface_ceiling", "p_ret"}, "what no model has a hand in"
        assert said["expected_response"].expectation.value == row.expected
        root = spans[f"case {case}"]
        assert all(
            root.start_time_ns <= s.start_time_ns <= s.end_time_ns <= root.end_time_ns
            for s in spans.values()
        )
    mlflow.set_tracking_uri(f"sqlite:///{path}")  # where a dataset's records are read
    try:
        (dataset,) = client.search_datasets(experiment_ids=[experiment.experiment_id])
        records = dataset.to_df()
    finally:
        mlflow.set_tracking_uri(before)
    told = {
        r["inputs"]["case"]: r["expectations"]["expected_response"] for _, r in records.iterrows()
    }
    assert told == {first: rows[first].expected, second: rows[second].expected}
    assert all(left_out not in str(record) for _, record in records.iterrows())


def test_a_case_that_the_run_has_not_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(run), "--to", "mlflow", str(tmp_path / "x.db")]
    told = framework(capsys, *words, "case=nobody").mistake
    assert told.startswith(f"{run} has no case 'nobody': it has ")
    assert (
        framework(capsys, *words, "arm=x").mistake == "export: 'arm=x' is not of the form case=ID"
    )
    assert list(tmp_path.iterdir()) == []


def test_data_that_changed_since_the_run_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, place, target = tmp_path / "questions.json", tmp_path / "run", tmp_path / "x.db"
    data.write_bytes(QUESTIONS.read_bytes())
    argv = [*HOTPOT, f"domain.path={data}", "arch=bm25", f"hydra.run.dir={place}"]
    assert command.main(argv) == 0
    asked = json.loads(data.read_bytes())
    asked[0]["answer"] = "another"
    data.write_text(json.dumps(asked))
    told = framework(capsys, "export", str(place), "--to", "mlflow", str(target)).mistake
    assert told == f"{place} was made of other data than the domain now has: data"
    assert not target.exists()


def test_a_system_of_whole_runs_takes_no_case(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(run), "--to", "activegraph", str(tmp_path / "x.db"), "case=a"]
    told = "export --to activegraph takes whole runs; leave out case=a"
    assert framework(capsys, *words).mistake == told


@pytest.mark.slow
def test_a_trace_that_mlflow_did_not_make_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlflow.start_span_no_context", lambda *given, **named: NoOpSpan())
    words = ["export", str(run), "--to", "mlflow", str(tmp_path / "x.db")]
    done = framework(capsys, *words, "case=loan-s7-000000")
    told = "error: MLflow made no trace of case loan-s7-000000; is tracing switched off?"
    assert (done.status, done.err.splitlines()[-1]) == (2, told)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Any type hint")
def test_cases_of_a_loop_are_those_of_its_pool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loop draws a pool of its own size, whatever `n_cases` says."""
    right = {"base": {"optimize": "0-4", "confirm": "0-9", "test": "0-4"}}
    done = run_script(script_plan(right, [], n_cases=3), tmp_path / "run")
    made = framework(capsys, "export", str(done.path), "--to", "mlflow", str(tmp_path / "x.db"))
    assert made.status == 0, made.err
    assert "10 traces" in made.out
