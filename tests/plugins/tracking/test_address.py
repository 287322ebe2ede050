"""Addresses: which are taken, that no secret is told or kept, and that nobody waits for nobody."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from framework.cli.ending import Ending
from framework.cli.log import log_to_stderr
from framework.errors import TrackingError, UserError
from framework.registry import find, settings_of
from plugins.tracking import _server as address
from plugins.tracking.mlflow import MlflowSettings
from tests.plugins.tracking.runs import finished_run, planned, tracker

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # within MLflow


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:5000",
        "https://mlflow.example.org/team",
        "sqlite:///mlruns/mlflow.db",
        "sqlite:////var/lib/mlflow.db",
        "postgresql://user@host/mlflow",
        "postgresql+psycopg2://host:5433/mlflow",
        "mysql+pymysql://host/mlflow",
        "mssql+pyodbc://host/mlflow",
    ],
)
def test_addresses_that_mlflow_has_a_store_for(uri: str) -> None:
    assert MlflowSettings(uri=uri).uri == uri


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("mlruns", "uri: no scheme given; a folder is no store"),
        ("file:///var/mlruns", "uri: scheme 'file' given"),
        ("postgres://host/db", "uri: scheme 'postgres' given; did you mean 'postgresql'"),
        ("htp://host", "uri: scheme 'htp' given; did you mean 'http'"),
        ("sqlite://", "uri: sqlite needs a file"),
        ("sqlite:///:memory:", "uri: sqlite needs a file"),
        ("http://", "uri: no host given"),
        ("http://host:port", "uri: its port is not a number"),
    ],
)
def test_other_addresses_are_the_users_mistake(uri: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason) as caught:
        settings_of(find("tracking", "mlflow"), {"uri": uri})
    assert str(caught.value).startswith("tracking=mlflow: ")


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://user:hunter2@host/mlflow",
        "http://user:hunter2@host",
        "https://hunter2@host",
        "postgresql://host/mlflow?password=hunter2",
        "https://host/?access_token=hunter2",
    ],
)
def test_a_secret_may_not_stand_in_the_configuration(uri: str) -> None:
    with pytest.raises(ValueError, match="environment variable MLFLOW_TRACKING_URI") as caught:
        MlflowSettings(uri=uri)
    assert "hunter2" not in str(caught.value)
    address.check(uri)  # but in the environment it may
    assert "hunter2" not in address.public(uri)
    assert "hunter2" not in address.explain(ValueError(f"cannot reach {uri} (hunter2)"), uri)


def test_an_empty_experiment_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="tracking=mlflow: experiment: empty"):
        settings_of(find("tracking", "mlflow"), {"experiment": " "})


def test_the_store_is_here_unless_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    assert address.resolve(None) == here
    assert address.artifact_location(here) == f"file://{tmp_path}/mlruns/artifacts"
    assert address.resolve("sqlite:///a b/x.db") == f"sqlite:///{tmp_path}/a b/x.db"
    assert address.artifact_location("http://host") is None
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://user:hunter2@host/")
    assert address.resolve(None) == "http://user:hunter2@host"
    assert address.resolve(here) == here
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "mlruns")
    with pytest.raises(TrackingError, match="MLFLOW_TRACKING_URI: uri: no scheme given"):
        address.resolve(None)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("scheme", ["http", "postgresql", "mysql", "mssql+pyodbc"])
def test_nobody_there_is_told_at_once(tmp_path: Path, scheme: str) -> None:
    uri = f"{scheme}://127.0.0.1:{_free_port()}/x"
    plan = finished_run(tmp_path / "run", uri)
    began = time.monotonic()
    with pytest.raises(TrackingError, match=f"nobody answers at {uri.replace('+', '.')}") as caught:
        tracker(plan).upload_run(tmp_path / "run", None)
    assert time.monotonic() - began < 30
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run" / "tracking.json").exists()


def test_a_server_that_says_nothing_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert address._PROBE_SECONDS < 5
    monkeypatch.setattr(address, "_PROBE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        plan = finished_run(tmp_path / "run", uri)
        began = time.monotonic()
        with pytest.raises(TrackingError, match="nobody answers"):
            tracker(plan).upload_run(tmp_path / "run", None)
    assert time.monotonic() - began < 30


def test_a_server_that_is_not_mlflow_is_told_in_one_line(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = httpserver.url_for("").replace("http://", "http://user:hunter2@")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", secret)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    plan = finished_run(tmp_path / "run", None)
    with pytest.raises(TrackingError) as caught:
        tracker(plan).upload_run(tmp_path / "run", None)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 320


def test_a_file_that_is_no_database_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("not a database, by any measure")
    plan = finished_run(tmp_path / "run", f"sqlite:///{tmp_path}/x.db")
    began = time.monotonic()
    with pytest.raises(TrackingError, match="file is not a database"):
        tracker(plan).upload_run(tmp_path / "run", None)
    assert time.monotonic() - began < 30
    plan = planned(f"sqlite:///{tmp_path}/x.db/y.db")
    with pytest.raises(TrackingError, match=r"x\.db"):
        tracker(plan).upload_run(tmp_path / "run", None)


def test_the_run_ends_well_without_its_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = finished_run(tmp_path / "run", f"http://127.0.0.1:{_free_port()}")
    log_to_stderr()
    Ending().run_ended(plan, tmp_path / "run", None)
    said = capsys.readouterr().err
    assert "nobody answers" in said
    assert f"decisionbench sync {tmp_path / 'run'}" in said


def test_tracking_changes_no_identity(tmp_path: Path) -> None:
    assert planned(None).digest == planned("http://127.0.0.1:1").digest


@pytest.mark.slow
def test_no_secret_is_kept(tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"{uri}?password=hunter2")
    plan = finished_run(tmp_path / "run", None)
    told = tracker(plan).upload_run(tmp_path / "run", None)
    kept = (tmp_path / "run" / "tracking.json").read_text()
    assert json.loads(kept)["uri"] == uri
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(files) > 10
    assert "hunter2" not in told
    assert not [p for p in files if b"hunter2" in p.read_bytes()]
