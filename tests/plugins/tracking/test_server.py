"""The same upload through a server that is really there."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.errors import TrackingError
from framework.store.directory import ANSWERS
from framework.store.state import read_summary
from plugins.commands.sync import sync
from tests.plugins.tracking.runs import finished_run, finished_sweep
from tests.plugins.tracking.serving import Serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # within MLflow
]


def test_a_sweep_through_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    database = tmp_path / "store" / "mlflow.db"
    database.parent.mkdir()
    with Serving(database, tmp_path / "log") as url:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", url.replace("http://", "http://user:hunter2@"))
        runs = finished_sweep(tmp_path / "sweep", None)
        told = sync(tmp_path / "sweep")
        assert told.startswith(f"4 of 4 runs and their sweep; {url}: experiment decisionbench")
        assert sync(tmp_path / "sweep") == told
        client = MlflowClient(url)
        experiment = client.get_experiment_by_name("decisionbench")
        assert experiment is not None
        stored = {r.info.run_name: r for r in client.search_runs([experiment.experiment_id])}
        assert len(stored) == 5
        for run in runs:
            summary = read_summary(run)
            copy = stored[f"trivial {summary['run']['arch']} {summary['run']['budget']}"]
            assert copy.info.status == "FINISHED"
            assert copy.data.metrics["axes/right"] == summary["axes"]["right"]["mean"]
            answers = client.download_artifacts(copy.info.run_id, ANSWERS, str(tmp_path))
            assert Path(answers).read_bytes() == (run / ANSWERS).read_bytes()
        finished_run(tmp_path / "later", None)
    with pytest.raises(TrackingError, match=f"nobody answers at {url}"):
        sync(tmp_path / "later")
    files = [p for p in (tmp_path / "sweep").rglob("*") if p.is_file()]
    assert not [p for p in files if b"hunter2" in p.read_bytes()]
