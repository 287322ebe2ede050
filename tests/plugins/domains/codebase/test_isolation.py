"""What is refused where code can't be isolated, and what needs no isolation."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.errors import UserError
from framework.sandbox import box
from plugins.domains.codebase import checking
from plugins.domains.codebase.domain import Codebase, CodebaseSettings
from tests.launching import framework, read_json, run
from tests.plugins.domains.codebase.helpers import TARGETS, case_of, reference

SMALL = ("domain=codebase", "arch=bm25", "n_cases=3", "tracking=none", "report=false")


@pytest.fixture(autouse=True)
def nothing_isolates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "available", lambda: "no namespaces")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("given", [(), ("-m", "arch=none,bm25")])
def test_answers_are_refused_before_anything_is_written(
    given: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = run(capsys, *SMALL, "protocol=evaluate", *given).mistake
    assert refused.startswith("code from a model is not run here, as it can't be isolated: no name")
    assert not list(tmp_path.iterdir())


def test_an_estimate_asks_for_answers_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert "can't be isolated" in framework(capsys, "estimate", *SMALL).mistake


def test_retrieval_runs_no_code_and_needs_none(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, *SMALL, "protocol=retrieve", "budget=tight")
    assert done.status == 0, done.err
    summary = read_json(done.directory / "summary.json")
    assert (summary["run"]["n_cases"], summary["errors"]["n"]) == (3, 0)
    shown = framework(capsys, "show", "domain=codebase", "case=0")
    assert shown.status == 0


def test_the_check_itself_refuses_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "_VERDICTS", {})
    target = TARGETS[0]
    with pytest.raises(UserError, match="code from a model is not run here"):
        Codebase(CodebaseSettings()).success(reference(target), case_of(target).gold)
