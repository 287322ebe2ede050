"""The table of the language model is the one that its recorded answers give, bit for bit."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from benchmarks import language_model
from benchmarks.language_model import RECORDED, agreement, main
from framework.reporting.markdown import between_markers
from framework.rows import measured_digest
from framework.store.directory import load_state

PAGE = language_model.ROOT / "docs" / "results" / "language-model.md"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_replay_without_the_model_gives_the_table_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    digests = []
    for _ in range(2):
        assert main(["--replay"]) == 0
        assert capsys.readouterr().out.strip() == between_markers(str(PAGE))
        jobs = sorted(path.parent for path in tmp_path.glob("runs/*/*/journal.jsonl"))
        assert len(jobs) == len(language_model.ARMS)
        digests.append([measured_digest(load_state(job).rows) for job in jobs])
    assert digests[0] == digests[1]


def test_the_share_that_differs_is_told(tmp_path: Path) -> None:
    for name, texts in (("here", "abc"), ("there", "axc")):
        with sqlite3.connect(tmp_path / name) as db:
            db.execute("CREATE TABLE responses (key TEXT, response TEXT)")
            rows = [(str(i), f'{{"text": "{text}"}}') for i, text in enumerate(texts)]
            db.executemany("INSERT INTO responses VALUES (?, ?)", rows)
    told = agreement(tmp_path / "here", tmp_path / "there")
    assert told == "2 of 3 answers are those recorded; 0 are new"
    assert "no recorded answers" in agreement(tmp_path / "here", tmp_path / "nowhere")


def test_what_is_shipped_is_a_few_megabytes() -> None:
    sizes = [(RECORDED / name).stat().st_size for name in language_model.FILES]
    assert all(sizes)
    assert sum(sizes) < 8_000_000
