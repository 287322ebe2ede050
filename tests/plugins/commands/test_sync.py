"""Uploading later what was not uploaded when it ran."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.config import Plan
from framework.engine.run import execute
from framework.errors import UserError
from framework.store import JOURNAL
from framework.store.directory import SWEEP, SWEEP_PLAN
from framework.store.state import load_state
from plugins.commands.sync import sync
from tests.trivial import TrivialTracker, trivial_plan


@pytest.fixture
def uploads() -> Iterator[list[Path]]:
    """What the trivial tracker was asked to upload, in order."""
    TrivialTracker.uploads.clear()
    yield TrivialTracker.uploads
    TrivialTracker.uploads.clear()


def _sweep(path: Path) -> list[Path]:
    plans = [trivial_plan(n_cases=n) for n in (3, 2)]
    path.mkdir()
    jobs = [{"name": p.name, "identity": p.digest, "overrides": []} for p in plans]
    (path / SWEEP_PLAN).write_text(json.dumps({"argv": [], "config_name": "", "jobs": jobs}))
    return [execute(p, path / p.name).directory for p in plans]


def _cut_off(run: Path) -> None:
    lines = (run / JOURNAL).read_bytes().splitlines(keepends=True)
    (run / JOURNAL).write_bytes(b"".join(lines[:-1]))
    assert load_state(run).finished is None


def _without_tracking() -> Plan:
    return trivial_plan(n_cases=2, tracking={"plugin": "none"})


def test_a_run(tmp_path: Path, uploads: list[Path]) -> None:
    execute(trivial_plan(n_cases=2), tmp_path / "run")
    assert sync(tmp_path / "run") == "run"
    assert uploads == [tmp_path / "run"]


def test_a_whole_sweep_in_the_order_of_its_jobs(tmp_path: Path, uploads: list[Path]) -> None:
    sweep = tmp_path / "sweep"
    runs = _sweep(sweep)
    baseline = execute(trivial_plan(n_cases=1), sweep / "a-baseline").directory
    (sweep / SWEEP).write_text("{}")
    assert sync(sweep) == "3 of 3 runs and their sweep; sweep"
    assert uploads == [*runs, baseline, sweep]


def test_an_unfinished_sweep_uploads_what_there_is(tmp_path: Path, uploads: list[Path]) -> None:
    sweep = tmp_path / "sweep"
    runs = _sweep(sweep)
    _cut_off(runs[1])
    said = sync(sweep)
    assert said.startswith("1 of 2 runs; the sweep itself is not finished")
    assert uploads == [runs[0]]
    _cut_off(runs[0])
    with pytest.raises(UserError, match="has no finished run yet; resume it with resume="):
        sync(sweep)


def test_a_job_goes_under_its_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = _sweep(tmp_path / "sweep")
    asked: list[tuple[Path, Path | None]] = []

    def upload_run(self: TrivialTracker, directory: Path, sweep: Path | None) -> str:
        asked.append((directory, sweep))
        return ""

    monkeypatch.setattr(TrivialTracker, "upload_run", upload_run)
    sync(runs[1])
    execute(trivial_plan(n_cases=1), tmp_path / "alone")
    sync(tmp_path / "alone")
    assert asked == [(runs[1], tmp_path / "sweep"), (tmp_path / "alone", None)]


def test_what_cannot_be_uploaded_is_the_users_mistake(tmp_path: Path, uploads: list[Path]) -> None:
    with pytest.raises(UserError, match="is not a run directory"):
        sync(tmp_path)
    execute(trivial_plan(n_cases=2), tmp_path / "cut")
    _cut_off(tmp_path / "cut")
    with pytest.raises(UserError, match="is not finished; resume it with resume="):
        sync(tmp_path / "cut")
    execute(_without_tracking(), tmp_path / "none")
    with pytest.raises(UserError, match=r"run with tracking=none; resume=.* tracking=mlflow"):
        sync(tmp_path / "none")
    assert uploads == []
