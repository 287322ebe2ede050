"""A shared server as mlflow.md starts it: PostgreSQL behind it, artifacts through it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from framework.store.directory import ANSWERS
from framework.store.state import read_summary
from plugins.commands.sync import sync
from tests.plugins.tracking.runs import finished_run
from tests.plugins.tracking.serving import ROOT

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # within MLflow
]

SECONDS = 90.0
BUDGETS = ("tight", "moderate", "loose", "absolute")
"""What each of four processes runs a sweep under."""


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of an empty database on a PostgreSQL server of its own."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    initdb = shutil.which("initdb") or next((str(p / "initdb") for p in programs[::-1]), "")
    if not initdb:
        reason = "no PostgreSQL server; `make ci-extras` installs one"
        if os.environ.get("DECISIONBENCH_REQUIRE_EXTRAS"):
            pytest.fail(reason)
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="db-pg-", ignore_cleanup_errors=True) as place:
        who = _other_user()
        if who is not None:
            os.chown(place, who.pw_uid, who.pw_gid)
        user = None if who is None else who.pw_name
        data = f"{place}/data"
        make = [initdb, "--auth=trust", "--username=mlflow", "--no-sync", data]
        subprocess.run(make, check=True, capture_output=True, user=user, cwd=place)
        port = _free_port()
        server = [str(Path(initdb).with_name("postgres")), "-D", data, "-p", str(port)]
        server += ["-k", place, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        process = subprocess.Popen(server, stderr=subprocess.DEVNULL, user=user, cwd=place)
        try:
            _until_answered(port)
            yield f"postgresql+psycopg://mlflow@127.0.0.1:{port}/postgres"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def _other_user() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: the user to run it as, None for our own."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _until_answered(port: int) -> None:
    import psycopg

    end = time.monotonic() + SECONDS
    while True:
        try:
            psycopg.connect(f"postgresql://mlflow@127.0.0.1:{port}/postgres").close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@contextmanager
def make_server(database: str, artifacts: Path) -> Iterator[str]:
    """`make server` on that database, until the block ends; its address."""
    port = _free_port()
    log = artifacts.with_suffix(".log")
    command = ["make", "server", f"DATABASE={database}", f"ARTIFACTS={artifacts}", f"PORT={port}"]
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, "SERVER_ARGS=--workers 2"],
            cwd=ROOT,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{url}/health", timeout=2).close()
                break
            except OSError:
                if time.monotonic() > end or process.poll() is not None:
                    pytest.fail(f"`make server` did not come up:\n{log.read_text()[-2000:]}")
                time.sleep(0.3)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.fixture(scope="module")
def url(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with make_server(database, tmp_path_factory.mktemp("server") / "artifacts") as url:
        yield url


def stored(url: str) -> tuple[Any, list[Any]]:
    """A client and all runs of the experiment."""
    from mlflow import MlflowClient

    client = MlflowClient(url)
    experiment = client.get_experiment_by_name("decisionbench")
    assert experiment is not None
    assert experiment.artifact_location.startswith("mlflow-artifacts:")
    return client, list(client.search_runs([experiment.experiment_id]))


def test_four_processes_sweep_into_one_server(url: str, tmp_path: Path) -> None:
    def start(budget: str) -> subprocess.Popen[str]:
        sweep = ["-m", "arch=none,bm25", f"budget={budget}", "n_cases=6", f"tracking.uri={url}"]
        return subprocess.Popen(
            [sys.executable, str(ROOT / "run.py"), *sweep, f"hydra.sweep.dir={tmp_path / budget}"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    processes = [start(budget) for budget in BUDGETS]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert "tracking:" not in errors
    client, runs = stored(url)
    assert [run.info.status for run in runs] == ["FINISHED"] * 12
    parents = {run.info.run_id for run in runs if "mlflow.parentRunId" not in run.data.tags}
    assert len(parents) == 4
    by_directory = {run.data.tags["directory"]: run for run in runs}
    for budget in BUDGETS:
        for job in (path.parent for path in (tmp_path / budget).glob("*/summary.json")):
            copy, summary = by_directory[job.name], read_summary(job)
            assert copy.data.tags["mlflow.parentRunId"] in parents
            assert copy.data.metrics["axes/frp"] == summary["axes"]["frp"]["mean"]
            answers = client.download_artifacts(copy.info.run_id, ANSWERS, str(tmp_path))
            assert Path(answers).read_bytes() == (job / ANSWERS).read_bytes()


def test_an_upload_that_was_killed_is_finished_by_sync(url: str, tmp_path: Path) -> None:
    run = tmp_path / "killed"
    finished_run(run, url)
    # The record of the MLflow run is written when it is made, before anything is filled in.
    code = (
        "import os, signal, sys; from pathlib import Path; import tests.trivial\n"
        "from plugins.tracking._server import Server\n"
        "Server.fill = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from plugins.commands.sync import sync; sync(Path(sys.argv[1]))"
    )
    process = subprocess.run([sys.executable, "-c", code, str(run)], check=False, timeout=120)
    assert process.returncode == -signal.SIGKILL
    before = {found.info.run_id for found in stored(url)[1]}
    (unfinished,) = [f for f in stored(url)[1] if f.info.status == "RUNNING"]
    sync(run)
    client, after = stored(url)
    assert {found.info.run_id for found in after} == before
    finished = client.get_run(unfinished.info.run_id)
    assert finished.info.status == "FINISHED"
    assert finished.data.metrics["axes/right"] == read_summary(run)["axes"]["right"]["mean"]
