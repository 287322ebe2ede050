"""A loop is a parent run and each draft a child with its outcome; again makes nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
