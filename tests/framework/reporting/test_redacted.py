"""`report --redact`: no text of a case is on the page, in Markdown or in a figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.config import load_plan
from framework.reporting.page import write_report
from framework.store.state import read_report
from plugins.axes.ranking import Ranking
from tests.launching import HOTPOT, LOAN, framework, run
from tests.plugins.protocols.improve.scripted import prompt, run_script, script_plan

RIGHT = {"base": {"optimize": "0-4", "confirm": "0-6"}, "a": {"optimize": "0-6"}}


def texts_of(directory: Path) -> Iterator[str]:
    """Every text of a run's cases: queries and answers whole, documents and gold by sentence."""
    plan = load_plan(directory)
    domain = plan.parts["domain"].create()
    for case in domain.cases(plan.top.n_cases, plan.top.seed):
        gold = case.gold
        spans = (span.text for item in gold.items for span in item.spans)
        events = (event.text for event in domain.history(case.history_id))
        for text in (*events, *spans, *(point.text for point in gold.reasons), gold.answer or ""):
            yield from (part.strip() for line in text.splitlines() for part in line.split(". "))
        yield case.task.instruction


def written(directory: Path) -> str:
    """All that a report consists of."""
    files = [directory / "report.html", directory / "report.md"]
    files += sorted(directory.glob("figures/*.svg"))
    return " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in files)


def found(directory: Path, jobs: list[Path]) -> set[str]:
    """The texts of four words or more that are in a report."""
    page = written(directory)
    texts = {text for job in jobs for text in texts_of(job) if text.count(" ") >= 3}
    assert len(texts) > 20
    return {text for text in texts if " ".join(text.split()) in page}


@pytest.mark.slow
def test_the_texts_of_a_sweeps_cases_are_not_in_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "-m", *LOAN, "arch=bm25,oracle", "n_cases=6", "run_name=s").status == 0
    done = framework(capsys, "report", "runs/s", "--redact")
    assert done.out == "runs/s/report.html\n"
    place = tmp_path / "runs/s"
    assert list(place.glob("figures/*.svg"))
    assert found(place, [path.parent for path in place.glob("*/journal.jsonl")]) == set()


def test_an_error_is_told_by_its_kind_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = "She was born in Port Verrin in 1832."

    def failing(self: Ranking, scored: object) -> None:
        raise RuntimeError(f"can't be read: {said}")

    with monkeypatch.context() as patch:
        patch.setattr(Ranking, "score", failing)
        run(capsys, *HOTPOT, "arch=bm25", "max_errors=9", "hydra.run.dir=r")
    framework(capsys, "report", "r")
    assert {text.rstrip(".") for text in found(Path("r"), [Path("r")])} == {said.rstrip(".")}
    framework(capsys, "report", "r", "--redact")
    assert found(Path("r"), [Path("r")]) == set()
    assert "Every row failed, 6 of 6; most often: RuntimeError" in written(Path("r"))


def test_a_loops_edits_are_left_out(tmp_path: Path) -> None:
    done = run_script(script_plan(RIGHT, [prompt("a"), prompt("same")]), tmp_path / "run")
    loop = read_report(done.path, "improve")
    assert loop is not None
    edits = {t for one in loop["candidates"] for t in one["payload"]["fragments"].values()}
    write_report(done.path)
    assert all(f": {edit}<" in written(done.path) for edit in edits)
    write_report(done.path, redact=True)
    page = written(done.path)
    assert not any(f": {edit}<" in page for edit in edits)
    assert "What each draft says" not in page


def test_a_recipe_is_not_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    told = framework(capsys, "report", "--recipe", "depth/F016", "--redact").mistake
    assert told == "--redact is for a run or sweep; a recipe shows recorded rows"
