"""An upload that was cut off anywhere is finished by the next one, and nothing is made twice."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from framework.contracts import Tracker
from plugins.tracking import mlflow as mlflow_module
from tests.plugins.tracking.runs import finished_run, finished_sweep, planned, tracker

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # within MLflow
]

Stored = Callable[[], "list[Run]"]
STEPS = ("create_run", "log_batch", "log_inputs", "log_artifact", "set_terminated", "write_record")


class Killed(BaseException):
    """Stands for a process that is gone: nothing catches it."""


def _kill_at(monkeypatch: pytest.MonkeyPatch, n: int, *, after: bool) -> list[str]:
    """Make the n-th step (from 1) that changes anything die before or after its work."""
    from mlflow import MlflowClient

    taken: list[str] = []

    def dying(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            taken.append(name)
            if len(taken) == n and not after:
                raise Killed
            result = real(*args, **kwargs)
            if len(taken) == n:
                raise Killed
            return result

        return step

    for name in STEPS:
        owner: Any = mlflow_module if name == "write_record" else MlflowClient
        monkeypatch.setattr(owner, name, dying(name, getattr(owner, name)))
    return taken


def _same(run: Run, other: Run) -> None:
    assert run.info.status == other.info.status == "FINISHED"
    assert run.info.run_name == other.info.run_name
    assert run.data.metrics == other.data.metrics
    assert run.data.params == other.data.params
    assert (run.info.start_time, run.info.end_time) == (
        other.info.start_time,
        other.info.end_time,
    )


def _upload_all(mlflow: Tracker[Any], sweep: Path, runs: list[Path]) -> None:
    for run in runs:
        mlflow.upload_run(run, sweep)
    mlflow.upload_sweep(sweep)


def test_a_second_upload_changes_nothing(
    tmp_path: Path, uri: str, client: MlflowClient, stored: Stored
) -> None:
    mlflow = tracker(finished_run(tmp_path / "run", uri))
    told = mlflow.upload_run(tmp_path / "run", None)
    (before,) = stored()
    assert mlflow.upload_run(tmp_path / "run", None) == told
    (tmp_path / "run" / "tracking.json").unlink()  # found again by its head hash
    assert mlflow.upload_run(tmp_path / "run", None) == told
    (after,) = stored()
    _same(before, after)
    assert len(client.get_metric_history(after.info.run_id, "axes/right")) == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_killed_upload_is_finished_by_the_next(
    tmp_path: Path, uri: str, stored: Stored, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    mlflow = tracker(finished_run(tmp_path / "run", uri))
    n = 0
    while True:
        n += 1
        (tmp_path / "run" / "tracking.json").unlink(missing_ok=True)
        for old in stored():
            old_client = mlflow_client(uri)
            old_client.delete_run(old.info.run_id)
        with monkeypatch.context() as patch:
            taken = _kill_at(patch, n, after=after)
            try:
                mlflow.upload_run(tmp_path / "run", None)
            except Killed:
                pass
            else:
                break
        mlflow.upload_run(tmp_path / "run", None)
        (run,) = stored()
        assert run.info.status == "FINISHED"
        assert json.loads((tmp_path / "run" / "tracking.json").read_text())["complete"] is True
        if n == 1:
            first = run
        _same(first, run)
    assert set(taken) == set(STEPS)
    assert n == len(taken) + 1 > 10


def mlflow_client(uri: str) -> MlflowClient:
    from mlflow import MlflowClient

    return MlflowClient(uri)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("after", [False, True])
def test_a_sweep_has_one_parent_wherever_it_was_killed(
    tmp_path: Path,
    uri: str,
    stored: Stored,
    monkeypatch: pytest.MonkeyPatch,
    n: int,
    after: bool,
) -> None:
    """The first four steps make the parent and its record, and the first child."""
    runs = finished_sweep(tmp_path / "sweep", uri)[:2]
    mlflow = tracker(planned(uri))
    with monkeypatch.context() as patch:
        _kill_at(patch, n, after=after)
        with pytest.raises(Killed):
            mlflow.upload_run(runs[0], tmp_path / "sweep")
    _upload_all(mlflow, tmp_path / "sweep", runs)
    _upload_all(mlflow, tmp_path / "sweep", runs)
    found = stored()
    assert len(found) == 3
    parents = [run for run in found if "mlflow.parentRunId" not in run.data.tags]
    assert len(parents) == 1
    assert {run.info.status for run in found} == {"FINISHED"}


def test_what_was_deleted_there_is_uploaded_anew(
    tmp_path: Path, uri: str, client: MlflowClient, stored: Stored
) -> None:
    mlflow = tracker(finished_run(tmp_path / "run", uri))
    mlflow.upload_run(tmp_path / "run", None)
    (gone,) = stored()
    client.delete_run(gone.info.run_id)
    mlflow.upload_run(tmp_path / "run", None)
    (run,) = stored()
    assert run.info.run_id != gone.info.run_id
    _same(run, gone)


def test_another_store_gets_the_run_too(
    tmp_path: Path, uri: str, stored: Stored, empty_database: bytes
) -> None:
    tracker(finished_run(tmp_path / "run", uri)).upload_run(tmp_path / "run", None)
    other = tmp_path / "other"
    other.mkdir()
    (other / "mlflow.db").write_bytes(empty_database)
    elsewhere = f"sqlite:///{other / 'mlflow.db'}"
    tracker(planned(elsewhere)).upload_run(tmp_path / "run", None)
    tracker(planned(uri)).upload_run(tmp_path / "run", None)  # and back: found, not made again
    assert len(stored()) == 1


def test_a_torn_record_counts_as_none(tmp_path: Path, uri: str, stored: Stored) -> None:
    mlflow = tracker(finished_run(tmp_path / "run", uri))
    mlflow.upload_run(tmp_path / "run", None)
    for torn in ("", "{", "[]", '{"unknown": 1}'):
        (tmp_path / "run" / "tracking.json").write_text(torn)
        mlflow.upload_run(tmp_path / "run", None)
    assert len(stored()) == 1


def test_a_copied_directory_is_the_same_run(tmp_path: Path, uri: str, stored: Stored) -> None:
    mlflow = tracker(finished_run(tmp_path / "run", uri))
    mlflow.upload_run(tmp_path / "run", None)
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    (tmp_path / "copy" / "tracking.json").unlink()
    mlflow.upload_run(tmp_path / "copy", None)
    assert len(stored()) == 1


def test_processes_that_come_first_together(tmp_path: Path) -> None:
    """Four jobs of one sweep, in processes of their own, into a store that is not there yet."""
    uri = f"sqlite:///{tmp_path / 'new' / 'mlflow.db'}"
    runs = finished_sweep(tmp_path / "sweep", uri)
    code = (
        "import sys; from pathlib import Path; import tests.trivial; "
        "from plugins.commands.sync import sync; print(sync(Path(sys.argv[1])))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, run], stderr=subprocess.PIPE, text=True)
        for run in map(str, runs)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
    client = mlflow_client(uri)
    experiment = client.get_experiment_by_name("decisionbench")
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    assert len(found) == 5
    assert len({run.data.tags.get("mlflow.parentRunId") for run in found}) == 2
