"""Exchanges that are kept: the same rows without the system, and nothing asked twice."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, StopRun
from framework.models.client import Ledger, book, track_usage
from framework.records import Event, Usage
from framework.rows import measured
from framework.store.directory import read_run
from framework.testing.arch_conformance import check_arch, history
from framework.text.canonical import canonical_bytes
from plugins.archs.external._exchanges import Exchanges
from plugins.archs.external._mapping import Found, SystemFailed
from plugins.archs.external._recorded import Recorded
from plugins.archs.external.process import ProcessMemory, ProcessSettings
from tests.launching import HOTPOT, Done, run
from tests.plugins.archs.external.systems import HERE, SHELL
from tests.plugins.archs.external.test_shipped import stub


def asked(capsys: pytest.CaptureFixture[str], place: Path, *words: str) -> Done:
    """A run of a mapping whose system is the program `memory` of a place."""
    (place / "arch").mkdir(exist_ok=True)
    mapping = {"defaults": ["process", "_self_"], "command": ["{here}/memory"]}
    (place / "arch/mine.yaml").write_text(json.dumps(mapping))
    return run(capsys, *HOTPOT, "--config-dir", str(place), "arch=mine", *words)


def install(place: Path, *words: str) -> Path:
    """The program `memory`: that in sh, or the toy with these words."""
    command = SHELL if not words else (sys.executable, "-S", "-E", str(HERE / "toy.py"), *words)
    program = place / "memory"
    program.write_text(f"#!/bin/sh\necho x >> '{place}/starts'\nexec {' '.join(command)}\n")
    program.chmod(0o755)
    return program


def starts(place: Path) -> int:
    """How often the program was started."""
    kept = place / "starts"
    return len(kept.read_text().splitlines()) if kept.exists() else 0


def rows_of(done: Done) -> bytes:
    return canonical_bytes(measured(read_run(done.directory).rows))


@pytest.mark.parametrize(
    "words",
    [(), ("--fault", "shuffled"), ("--fault", "crash")],
    ids=["shell", "by chance", "crashes"],
)
def test_a_replay_has_the_same_rows_without_the_system(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(runs_dir)
    program = install(runs_dir, *words)
    kept = ("max_errors=100", "arch.exchanges=kept")
    first = asked(capsys, runs_dir, *kept, "run_name=first")
    begun = starts(runs_dir)
    again = asked(capsys, runs_dir, *kept, "run_name=again")
    assert begun > 0
    assert starts(runs_dir) == begun, "what is recorded is not asked again"
    program.unlink()
    replayed = asked(capsys, runs_dir, *kept, "arch.replay=true", "run_name=replayed")
    assert first.status == replayed.status == 0, replayed.err
    assert rows_of(first) == rows_of(again) == rows_of(replayed)
    summaries = [read_run(done.directory).summary["run"] for done in (first, replayed)]
    assert summaries[0]["arch"] == summaries[1]["arch"] == "mine"
    digests = {read_run(done.directory).manifest["identity"] for done in (first, replayed)}
    assert len(digests) == 1
    failed = [row for row in read_run(replayed.directory).rows if row.error]
    assert bool(failed) == ("crash" in words)


def test_recording_changes_no_row(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    install(runs_dir)
    plain = asked(capsys, runs_dir, "run_name=plain")
    kept = asked(capsys, runs_dir, "arch.exchanges=kept", "run_name=kept")
    assert rows_of(plain) == rows_of(kept)


def test_what_was_cut_off_is_asked_again_and_what_was_not_is_not(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    install(runs_dir)
    whole = asked(capsys, runs_dir, "arch.exchanges=kept", "run_name=whole")
    (file,) = (runs_dir / "kept").iterdir()
    text = gzip.decompress(file.read_bytes())
    file.write_bytes(file.read_bytes()[:-20])
    (runs_dir / "starts").unlink()
    mended = asked(capsys, runs_dir, "arch.exchanges=kept", "run_name=mended")
    assert starts(runs_dir) == 1
    assert rows_of(whole) == rows_of(mended)
    again = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    before = [json.loads(line) for line in text.splitlines()]
    assert [{**line, "seconds": 0} for line in again] == [{**one, "seconds": 0} for one in before]


def test_what_is_not_recorded_stops_a_replay_in_one_line(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    install(runs_dir).unlink()
    nothing = asked(capsys, runs_dir, "arch.replay=true")
    assert "replay needs exchanges" in nothing.mistake
    nothing = asked(capsys, runs_dir, "arch.replay=true", "arch.exchanges=kept")
    assert nothing.mistake == "arch.replay: kept holds no exchanges"
    install(runs_dir)
    asked(capsys, runs_dir, "arch.exchanges=kept", "n_cases=2")
    more = asked(capsys, runs_dir, "arch.exchanges=kept", "arch.replay=true")
    assert more.status != 0
    assert "has no answer to a search for" in more.err
    other = asked(capsys, runs_dir, "arch.exchanges=kept", "arch.replay=true", "arch.version=v2")
    assert "has no answer to the write of" in other.err, "another version is another system"


def test_a_server_is_replayed_without_the_package_of_its_protocol(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    stub(runs_dir, "mcp-server-memory", "--graph")
    words = (*HOTPOT, "arch=server_memory", "arch.exchanges=kept")
    with monkeypatch.context() as installed:
        installed.setenv("PATH", str(runs_dir), prepend=":")
        first = run(capsys, *words, "run_name=first")
    monkeypatch.setenv("PATH", str(runs_dir / "empty"))
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *of: None if name == "mcp" else known(name, *of)
    )
    assert "needs the package mcp" in run(capsys, *words).mistake
    replayed = run(capsys, *words, "arch.replay=true")
    assert first.status == replayed.status == 0, first.err + replayed.err
    assert rows_of(first) == rows_of(replayed)


def test_an_arm_whose_exchanges_are_kept_keeps_the_laws(tmp_path: Path) -> None:
    check_arch(ProcessMemory, ProcessSettings(command=SHELL, exchanges=str(tmp_path)))
    replayed = ProcessSettings(command=("gone",), exchanges=str(tmp_path), replay=True)
    with pytest.raises(StopRun, match="has no answer"):  # of another command
        check_arch(ProcessMemory, replayed)


class Paid:
    """A system that is paid for each write and search, and gives every event an id by chance."""

    made = 0

    def __init__(self, bill: list[str], fails: str = "") -> None:
        Paid.made += 1
        self.bill, self.fails, self.salt = bill, fails, Paid.made
        self.texts: list[tuple[str, str]] = []

    def write(self, event: Event) -> str:
        self._pay(f"write {event.id}")
        self.texts.append((f"{self.salt}-{event.id}", event.text))
        return self.texts[-1][0]

    def search(self, query: str, limit: int) -> list[Found]:
        self._pay(f"search {query}")
        return [Found(text=text, ids=(id_,), score=0.5) for id_, text in self.texts[:limit]]

    def reset(self) -> None:
        self.texts.clear()

    def tools(self) -> list[str]:
        return []

    def close(self) -> None:
        self.bill.append("close")

    def _pay(self, what: str) -> None:
        if what == self.fails:
            raise SystemFailed(f"{what}: refused")
        self.bill.append(what)
        book(Usage(calls=1, tokens_in=10, cost_usd=0.25, paid_usd=0.25, paid_calls=1))


def told(
    place: Path, bill: list[str], queries: Sequence[str], fails: str = "", replay: bool = False
) -> tuple[list[Any], Usage]:
    """What searches gave after the small history was written, and what all took."""
    ledger = Ledger()
    given: list[Any] = []
    with track_usage(ledger, "ingest", 0):
        system = Exchanges(
            place, {"arch": "paid"}, history(), None if replay else lambda: Paid(bill, fails)
        )
        with system.turn():
            for event in history():
                system.write(event)
        for query in queries:
            try:
                given.append(system.search(query, 3))
            except SystemFailed as failed:
                given.append(str(failed))
    system.close()
    return given, ledger.entries["ingest"]


def test_a_repetition_books_what_was_used_and_pays_nothing(tmp_path: Path) -> None:
    bill: list[str] = []
    first, used = told(tmp_path, bill, ["a", "b", "a"])
    assert (used.calls, used.paid_usd, len(bill)) == (
        12,
        2.75,
        12,
    )  # 9 writes, 3 asked, 1 of them kept
    again, replayed = told(tmp_path, bill, ["b", "a", "a"], replay=True)
    assert again == [first[1], first[0], first[0]]
    assert (replayed.calls, replayed.cost_usd, replayed.paid_usd) == (12, 3.0, 0.0)
    assert len(bill) == 12, "nothing was asked"
    assert first[0][0].ids == ("e1",), "by the event, not by the system's own id"


def test_a_system_that_is_told_again_is_booked_once(tmp_path: Path) -> None:
    bill: list[str] = []
    first, used = told(tmp_path, bill, ["a"])
    more, both = told(tmp_path, bill, ["a", "b"])
    assert both.calls == used.calls + 1
    assert more[0] == first[0]
    assert [found.ids for found in more[1]] == [found.ids for found in first[0]]
    assert told(tmp_path, bill, ["a", "b"], replay=True)[0] == more


def test_a_failure_is_recorded_and_what_follows_it(tmp_path: Path) -> None:
    bill: list[str] = []
    first, _ = told(tmp_path, bill, ["a", "b", "c"], fails="search b")
    assert first[1:] == ["search b: refused", "it has ended before: search b: refused"]
    assert told(tmp_path, bill, ["a", "b", "c"], replay=True)[0] == first


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A file of four answers, two of them of one text."""
    path = tmp_path / "one.jsonl.gz"
    file = Recorded(path, {"arch": "x"}, ["known"])
    for number in range(4):
        found = [["known", [], None], [f"text {number // 2}", ["e1"], 0.5]]
        file.put(f"k{number}", {"found": found, "seconds": 0.1}, at_once=True)
    return path


def test_a_file_that_was_cut_off_anywhere_is_mended(recorded: Path, tmp_path: Path) -> None:
    whole = recorded.read_bytes()
    cut = tmp_path / "cut.jsonl.gz"
    counts = set[int]()
    answers = [Recorded(recorded, {}, ["known"]).get(f"k{n}") for n in range(4)]
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        read = Recorded(cut, {"arch": "x"}, ["known"])
        known = [read.get(f"k{n}") for n in range(4)]
        count = sum(answer is not None for answer in known)
        assert known == [*answers[:count], *[None] * (4 - count)]
        counts.add(count)
        for number, answer in enumerate(answers):
            assert answer is not None
            read.put(f"k{number}", answer, at_once=True)
        assert cut.read_bytes() == whole
    assert counts == {0, 1, 2, 3}


def test_a_file_that_was_changed_is_not_believed(recorded: Path) -> None:
    data = bytearray(recorded.read_bytes())
    data[len(data) // 2] ^= 0x10
    recorded.write_bytes(data)
    with pytest.raises(DataError, match=r"one\.jsonl\.gz: damaged"):
        Recorded(recorded, {}, ["known"])


def test_of_two_that_write_at_once_the_first_is_believed_by_both(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl.gz"
    one, two = (Recorded(path, {}, []) for _ in range(2))
    assert one.put("k", {"found": [["mine", [], None]]}, at_once=True)["found"][0][0] == "mine"
    assert two.put("k", {"found": [["other", [], None]]}, at_once=True)["found"][0][0] == "mine"
    two.put("l", {"found": [["other", [], None]]}, at_once=True)
    answer = one.get("l")
    assert answer is not None
    assert answer["found"][0][0] == "other"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
