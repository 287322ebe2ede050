"""The table of memory systems of others: a drawn part is replayed without them; LoCoMo is read."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import pytest

from benchmarks import memories
from benchmarks._locomo import sample
from framework.rows import measured
from framework.store.directory import read_run
from framework.text.canonical import digest
from tests.launching import run

ROWS = json.loads(memories.ROWS.read_text())


def drawn() -> tuple[memories.Setting, str, str]:
    """A recorded system on cases that need no file, at a budget: drawn by the recording itself."""
    there = [
        (setting, arm, budget)
        for setting in memories.SETTINGS
        if not setting.file
        for arm in sorted(ROWS.get(setting.name, {}))
        if (memories.RECORDED / arm / setting.name).is_dir()
        for budget in memories.BUDGETS
    ]
    number = int(hashlib.sha256(memories.ROWS.read_bytes()).hexdigest(), 16)
    return there[number % len(there)]


@pytest.mark.slow
def test_a_drawn_part_of_the_table_is_replayed_bit_for_bit(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    setting, arm, budget = drawn()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = run(
        capsys,
        *setting.overrides,
        f"n_cases={memories.HEAD}",
        f"arch={arm}",
        f"arch.exchanges={memories.RECORDED / arm / setting.name}",
        "arch.replay=true",
        f"budget={budget}",
        "extra_axes=[traced]",
        "tracking=none",
        "report=false",
        "max_errors=100",
    )
    assert done.status == 0, done.err
    rows = read_run(done.directory).rows
    assert len(rows) == memories.HEAD
    assert digest(measured(rows)) == ROWS[setting.name][arm]["first"][budget], (setting.name, arm)


def test_a_row_that_is_not_as_recorded_is_told() -> None:
    found = {"x": {"rows": {"tight": "a", "loose": "b"}}, "y": {"rows": {"tight": "c"}}}
    recorded = {"x": {"rows": {"tight": "a", "loose": "other"}}}
    assert memories.differing(found, recorded) == ["x, loose", "y, tight"]
    assert memories.differing(found, found) == []


def test_a_file_that_was_only_begun_is_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "RECORDED", tmp_path)
    setting = memories.SETTINGS[0]
    system = memories.System(name="x", version="1", asks=False, missing="")
    file = tmp_path / "x" / setting.name / "one.jsonl.gz"
    file.parent.mkdir(parents=True)
    file.touch()
    replay = argparse.Namespace(replay=True, recorded=False)
    assert memories.missing(system, setting, replay)
    file.write_bytes(b"x")
    assert not memories.missing(system, setting, replay)


def test_a_conversation_of_locomo_is_in_the_form_of_longmemeval(tmp_path: Path) -> None:
    turns = [("D1:1", "Ann", "I moved."), ("D1:2", "Bob", "When?"), ("D2:1", "Ann", "In May.")]
    said = [{"dia_id": d, "speaker": who, "text": text} for d, who, text in turns]
    asked = [
        {"question": "When did Ann move?", "answer": "May", "evidence": ["D2:1"], "category": 2},
        {"question": "Who moved?", "answer": "Ann", "evidence": ["D1:1"], "category": 4},
        {"question": "Why?", "evidence": ["D1:1"], "category": 5},
    ]
    conversation = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": said[:2],
        "session_2_date_time": "2:00 pm on 11 June, 2023",
        "session_2": said[2:],
    }
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([{"conversation": conversation, "qa": asked}]))
    both = json.loads(sample(file, sessions=None, questions=30))
    assert [one["question_type"] for one in both] == ["temporal-reasoning", "single-session-user"]
    assert both[0]["answer_session_ids"] == ["session_2"]
    assert both[0]["sessions"][0]["date"] == "2023/05/08"
    assert [turn["role"] for turn in both[0]["sessions"][0]["turns"]] == ["user", "assistant"]
    marked = [t["content"] for s in both[0]["sessions"] for t in s["turns"] if t["has_answer"]]
    assert marked == ["Ann: In May."]
    (first,) = json.loads(sample(file, sessions=1, questions=30))
    assert first["question"] == "Who moved?", "of the first session alone"
