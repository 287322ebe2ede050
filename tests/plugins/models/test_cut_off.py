"""An answer that is cut off, and the one asked for in its place too, is a row that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from framework.models.dry_run import likely_tokens
from framework.store.answers import answer_records
from framework.store.state import load_finished, read_summary
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

    half = BEGUN[operation][: len(BEGUN[operation]) // 2]
    limit = likely_tokens(half)
    with ModelServer(answer, faults=Faults(rates={"too_long": 1.0})) as server:
        done = run(
            capsys,
            *(f"domain={ASKING[operation]}", "arch=none", "n_cases=2", "max_errors=10"),
            *("model=openai", "model.name=small", f"model.base_url={server.url}/v1"),
            *("model.cache=null", f"model.max_tokens={limit}", "tracking=none", "report=false"),
        )
    assert done.status == 0, done.err
    rows = load_finished(done.directory).rows
    assert len(rows) == 2
    for row in rows:
        assert row.error.endswith(
            f"{operation}: unreadable after a repair: it was cut off at {limit} tokens; "
            "answer in fewer words"
        ), row.error
        assert row.success is None
        assert (row.decision, row.determined) == ("", None)
        assert row.usage["answer"].unreadable == row.usage["answer"].repairs == 1
    summary = read_summary(done.directory)
    assert summary["ledger"]["answer"]["unreadable"] == 2
    assert summary["errors"]["n"] == 2
    assert not summary["axes"].get(summary["success_axis"], {}).get("n")
    for record in answer_records(done.directory):
        assert record["answer"] is None
        (told,) = record["prompts"]
        assert told["operation"] == operation
        assert told["response"] == f"{half}\n[asked again]\n{half}"
