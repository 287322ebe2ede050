"""The answer to a search whose run was killed is left by the keeper, and not paid for again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from framework.contracts import ArchContext
from framework.store.processes import this
from plugins.archs.external._last import Last, left
from plugins.archs.external._settings import Models
from plugins.archs.external.process import ProcessMemory, ProcessSettings
from tests.framework.models.test_stopping import wait_until

SYSTEM = """
import json, pathlib, sys, time

for line in sys.stdin:
    request = json.loads(line)
    answer = {"ok": True}
    if request["op"] == "retrieve":
        with open(sys.argv[1], "a") as paid:
            paid.write(request["query"] + "\\n")
        while not pathlib.Path(sys.argv[2]).exists():
            time.sleep(0.01)
        answer = {"items": [{"text": "found", "id": "e1"}]}
        if pathlib.Path(sys.argv[2]).with_name("fails").exists():
            answer = {"error": "away"}
    if request["op"] == "close":
        break
    print(json.dumps(answer), flush=True)
"""
ARM = """
import asyncio, json, sys
from framework.contracts import ArchContext, Query
from framework.models.client import Ledger, track_usage
from framework.records import Event
from plugins.archs.external.process import ProcessMemory, ProcessSettings

async def main():
    settings = ProcessSettings(command=tuple(json.loads(sys.argv[1])), exchanges="kept")
    arm = ProcessMemory(settings, ArchContext(budget_tokens=None, client=None))
    with track_usage(Ledger(), "recall", 0):
        await arm.ingest([Event(id="e1", text="found", time="2026-01-01", kind="note")])
        found = await arm.recall(Query(text=sys.argv[2]), 5)
    print(*(item.text for item in found), flush=True)

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "system.py").write_text(SYSTEM)
    return tmp_path


def search(place: Path, query: str = "one") -> subprocess.Popen[str]:
    """A process that searches; what it finds is on its output."""
    words = [
        sys.executable,
        "-S",
        "-E",
        *map(str, (place / "system.py", place / "paid", place / "go")),
    ]
    command = [sys.executable, "-c", ARM, json.dumps(words), query]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def paid(place: Path) -> list[str]:
    file = place / "paid"
    return file.read_text().split() if file.exists() else []


def files(place: Path) -> list[Path]:
    return sorted((place / "kept").glob("*.last"))


def test_a_search_under_way_when_its_run_was_killed_is_not_asked_again(place: Path) -> None:
    killed = search(place)
    wait_until(lambda: paid(place) == ["one"])
    killed.kill()
    killed.communicate()
    again = search(place)  # while the system still works on it
    (place / "go").touch()
    assert again.communicate()[0] == "found\n"
    assert paid(place) == ["one"]
    assert files(place) == []
    assert search(place).communicate()[0] == "found\n"  # recorded by then
    assert paid(place) == ["one"]


def test_an_answer_that_nobody_took_is_not_asked_for_again(place: Path) -> None:
    stopped = search(place)
    wait_until(lambda: paid(place) == ["one"])
    stopped.send_signal(19)  # SIGSTOP: it takes in nothing
    (place / "go").touch()
    stopped.kill()
    stopped.communicate()
    assert search(place).communicate()[0] == "found\n"
    assert paid(place) == ["one"]


def test_an_answer_that_failed_is_not_left(place: Path) -> None:
    (place / "fails").touch()
    killed = search(place)
    wait_until(lambda: paid(place) == ["one"])
    killed.kill()
    killed.communicate()
    (place / "go").touch()
    wait_until(lambda: bool(files(place)) and b"away" in files(place)[0].read_bytes())
    (place / "fails").unlink()
    assert search(place).communicate()[0] == "found\n"
    assert paid(place) == ["one", "one"]
    assert files(place) == []


def test_nothing_is_left_by_a_system_whose_models_end_with_the_run() -> None:
    command = ("python3", "{here}/system.py")
    for models, leaves in ((None, True), (Models(embeddings=True), False)):
        settings = ProcessSettings(command=command, models=models)
        arm = ProcessMemory(settings, ArchContext(budget_tokens=None, client=None))
        assert arm.leaves_last is leaves


def test_the_answer_is_of_its_question_alone(place: Path) -> None:
    killed = search(place)
    wait_until(lambda: paid(place) == ["one"])
    killed.kill()
    killed.communicate()
    (place / "go").touch()
    assert search(place, "other").communicate()[0] == "found\n"
    assert paid(place) == ["one", "other"]
    assert search(place).communicate()[0] == "found\n"  # what nobody has asked for since is kept
    assert paid(place) == ["one", "other"]
    assert files(place) == []


def test_nothing_is_left_by_a_run_that_ends(place: Path) -> None:
    (place / "go").touch()
    assert search(place).communicate()[0] == "found\n"
    assert files(place) == []


def test_what_is_left_of_a_living_run_is_not_taken_and_half_an_answer_is_none(place: Path) -> None:
    kept = place / "kept" / "a.jsonl.gz"
    mine = Last(kept)
    mine.note("1" * 16)
    with mine.path.open("ab") as file:
        file.write(b"question\nanswer\n")
    assert left(kept, 1.0, lambda key: False) == {}
    gone = mine.path.with_name(mine.path.name.replace(this(), "00000000-1-0"))
    gone.write_bytes(mine.path.read_bytes()[:-1])
    assert left(kept, 1.0, lambda key: False) == {}
    assert not gone.exists()
    gone.write_bytes(mine.path.read_bytes())
    (found,) = left(kept, 1.0, lambda key: False).values()
    assert (found.question, found.answer) == (b"question\n", b"answer\n")
    assert left(kept, 1.0, lambda key: key == "1" * 16) == {}
    assert not gone.exists()
    mine.close()
    assert not mine.path.exists()
