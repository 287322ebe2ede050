"""A loop is a parent run and each draft a child with its outcome; again makes nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.text.canonical import canonical_json, digest_bytes
from plugins.tracking import _content, mlflow
from tests.plugins.protocols.improve.scripted import prompt, run_script, script_plan
from tests.plugins.tracking.runs import tracker

if TYPE_CHECKING:
    from mlflow.entities import Run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # within MLflow


def test_each_draft_is_a_child_run(
    tmp_path: Path, uri: str, stored: Callable[[], list[Run]]
) -> None:
    right = {
        "base": {"optimize": "0-5", "confirm": "0-9", "test": "0-4"},
        "a": {"optimize": "0-9", "confirm": "0-19", "test": "0-9"},
    }
    plan = script_plan(right, [prompt("a"), "no draft"], tracking={"plugin": "mlflow", "uri": uri})
    done = run_script(plan, tmp_path / "run")
    for _ in range(2):
        tracker(plan).upload_run(done.path, None)
    runs = {run.info.run_name: run for run in stored()}
    drafts = {name: run for name, run in runs.items() if name.startswith("draft")}
    (parent,) = (run for name, run in runs.items() if name not in drafts)
    assert len(stored()) == 1 + len(done.results["candidates"])
    assert {r.data.tags["mlflow.parentRunId"] for r in drafts.values()} == {parent.info.run_id}
    promoted = drafts["draft 0: promoted"]
    assert promoted.data.params["seam"] == "reader_prompt"
    assert promoted.data.metrics["confirm/net"] == 10
    assert all(run.info.status == "FINISHED" for run in drafts.values())


def test_a_draft_too_long_for_a_parameter_is_told_by_its_digest(
    tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code may be longer than what MLflow keeps of a parameter."""
    right = {"base": {"optimize": "0-5", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(right, [], tracking={"plugin": "mlflow", "uri": uri})
    done = run_script(plan, tmp_path / "run")
    payload = {"code": "def score(query, item):\n" + " return 1\n" * 700}
    entry = {"number": 0, "regime": "r", "stage": "optimize", "reason": "none", "seam": "score",
             "outcome": "discarded", "payload": payload}  # fmt: skip
    monkeypatch.setattr(_content, "read_report", lambda *_: {"candidates": [entry]})
    (draft,) = _content.draft_uploads(done.path, _content.run_upload(done.path))
    whole = canonical_json(payload)
    told = f"{digest_bytes(whole.encode())} ({len(whole)} characters, in full in improve.json)"
    assert draft.params["payload"] == told


def test_a_loop_is_finished_there_only_when_its_drafts_are(
    tmp_path: Path,
    uri: str,
    stored: Callable[[], list[Run]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = {"base": {"optimize": "0-5", "confirm": "0-9", "test": "0-4"}}
    plan = script_plan(right, [prompt("a")], tracking={"plugin": "mlflow", "uri": uri})
    done = run_script(plan, tmp_path / "run")

    def gone(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mlflow, "_candidates", gone)
    with pytest.raises(KeyboardInterrupt):
        tracker(plan).upload_run(done.path, None)
    monkeypatch.undo()
    assert [run.info.status for run in stored()] == ["RUNNING"]
    tracker(plan).upload_run(done.path, None)
    assert [run.info.status for run in stored()] == ["FINISHED"] * 2
