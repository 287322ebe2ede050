"""A judge behind either SDK, against the local server: what the rules say, booked and paid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from framework.store.state import load_state
from tests.framework.models.serving import server
from tests.launching import framework, run

SHORT = ("domain=loan", "tracking=none", "gate=open", "arch=oracle", "n_cases=5")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def axes(name: str) -> dict[str, Mapping[str, float | None]]:
    return {row.case_id: row.axes for row in load_state(Path("runs") / name).rows}


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_served_judge_says_what_the_rules_say(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = (f"judge={provider}", "judge.model.backoff_s=0.01")
    # The reader is the rule-based model: what the server answers is the judge's.
    with server(*SHORT, "model=rule_based", *judge) as serving:
        path = "/v1" if provider == "openai" else ""
        address = f"judge.model.base_url={serving.url}{path}"
        done = run(capsys, *SHORT, *judge, address, "run_name=served")
        assert done.status == 0, done.err
        summary = json.loads((done.directory / "summary.json").read_text())
        assert summary["errors"]["n"] == 0
        (said,) = summary["warnings"]
        assert "is not known: `decisionbench calibrate" in said
        for axis in ("crr", "crr_published", "rcs"):
            assert axis in said
            assert summary["axes"][axis]["judge_error"] == "judge's error not known"
        assert "judge_error" not in summary["axes"]["eda"]
        assert summary["run"]["judge_kind"] == "llm"
        ledger = summary["ledger"]["judge"]
        assert ledger["calls"] == serving.counts.calls > 0
        assert ledger["cost_usd"] > 0
        assert summary["ledger"]["answer"]["cost_usd"] == 0
        by_rule = framework(capsys, "rescore", "runs/served", "judge=rules", "--out", "runs/rules")
        assert by_rule.status == 0, by_rule.err
        served, rules = axes("served"), axes("rules")
        assert served == rules
        # Judged again from the cache: the same verdicts, nothing paid.
        before = serving.counts.calls
        again = framework(capsys, "rescore", "runs/rules", *judge, address, "--out", "runs/again")
        assert again.status == 0, again.err
        assert serving.counts.calls == before
        assert axes("again") == served
        rows = load_state(Path("runs/again")).rows
        assert sum(row.usage["judge"].calls for row in rows) == ledger["calls"]
        assert sum(row.usage["judge"].paid_usd for row in rows) == 0
