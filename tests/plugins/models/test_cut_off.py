"""An answer that is cut off, and the one asked for in its place too, is a row that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from framework.store.answers import answer_records
from framework.store.directory import load_finished, read_summary
from framework.testing.server import Faults, ModelServer
from tests.launching import run

BEGUN: Final = {
    "decide": '{"decision": "DENY", "amount": null, "rationale": "The applicant\'s income of ',
    "write_sql": '{"sql": "SELECT name, name, name, name, name, name, name, name, name',
    "write_patch": '{"edits": [{"file": "service/desk.py", "search": "def charge(',
}
ASKING: Final = {"decide": "loan", "write_sql": "text_to_sql", "write_patch": "codebase"}


@pytest.mark.parametrize("operation", ASKING)
def test_a_cut_off_answer_is_a_row_with_its_error_and_what_was_said(
    operation: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "test")

    def answer(name: str, system: str, user: str) -> str:
        return BEGUN[name]  # of which the server gives the first half

    with ModelServer(answer, faults=Faults(rates={"too_long": 1.0})) as server:
        done = run(
            capsys,
            *(f"domain={ASKING[operation]}", "arch=none", "n_cases=2", "max_errors=10"),
            *("model=openai", "model.name=small", f"model.base_url={server.url}/v1"),
            *("model.cache=null", "model.max_tokens=50", "tracking=none", "report=false"),
        )
    assert done.status == 0, done.err
    rows = load_finished(done.directory).rows
    assert len(rows) == 2
    for row in rows:
        assert f"{operation}: unreadable after a repair: it was cut off at " in row.error
        assert "tokens; answer in fewer words" in row.error
        assert row.success is not True
        assert row.decision == ""
    assert read_summary(done.directory)["ledger"]["answer"]["unreadable"] == 2
    for record in answer_records(done.directory):
        (told,) = record["prompts"]
        assert told["operation"] == operation
        half = BEGUN[operation][: len(BEGUN[operation]) // 2]
        assert told["response"] == f"{half}\n[asked again]\n{half}"
