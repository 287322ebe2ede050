"""Exchanges that are kept: the same rows without the system, and nothing asked twice."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import importlib.util
import io
import json
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, DoesNotFit, ModelError, StopRun, UserError
from framework.models.client import Ledger, book, track_usage
from framework.records import Event, Usage
from framework.rows import measured
from framework.store.state import read_run
from framework.testing.arch_conformance import check_arch, history
from framework.text.canonical import canonical_bytes
from plugins.archs.external import _recorded
from plugins.archs.external._exchanges import Exchanges
from plugins.archs.external._mapping import Found, SystemFailed
from plugins.archs.external._recorded import Recorded
from plugins.archs.external.process import ProcessMemory, ProcessSettings
from tests.launching import HOTPOT, Done, run
from tests.plugins.archs.external.systems import HERE, SHELL
from tests.plugins.archs.external.test_shipped import stand_in


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


@pytest.mark.slow
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
    kept = ("max_errors=100", "arch.exchanges=kept", "arch.canaries=false")
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


@pytest.mark.slow
def test_recording_changes_no_row(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    install(runs_dir)
    plain = asked(capsys, runs_dir, "run_name=plain")
    kept = asked(capsys, runs_dir, "arch.exchanges=kept", "run_name=kept")
    assert rows_of(plain) == rows_of(kept)


@pytest.mark.slow
def test_what_was_cut_off_is_asked_again_and_what_was_not_is_not(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    install(runs_dir)
    whole = asked(capsys, runs_dir, "arch.exchanges=kept", "arch.canaries=false", "run_name=whole")
    (file,) = (runs_dir / "kept").iterdir()
    text = gzip.decompress(file.read_bytes())
    file.write_bytes(file.read_bytes()[:-20])
    (runs_dir / "starts").unlink()
    mended = asked(
        capsys, runs_dir, "arch.exchanges=kept", "arch.canaries=false", "run_name=mended"
    )
    assert starts(runs_dir) == 1
    assert rows_of(whole) == rows_of(mended)
    again = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    before = [json.loads(line) for line in text.splitlines()]
    assert [{**line, "seconds": 0} for line in again] == [{**one, "seconds": 0} for one in before]


@pytest.mark.slow
def test_what_is_not_recorded_stops_a_replay_in_one_line(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    install(runs_dir).unlink()
    nothing = asked(capsys, runs_dir, "arch.replay=true")
    assert "replay needs exchanges" in nothing.mistake
    nothing = asked(capsys, runs_dir, "arch.replay=true", "arch.exchanges=kept")
    assert nothing.mistake == "arch=mine: arch.replay: kept holds no exchanges"
    install(runs_dir)
    asked(capsys, runs_dir, "arch.exchanges=kept", "n_cases=2")
    more = asked(capsys, runs_dir, "arch.exchanges=kept", "arch.replay=true")
    assert more.status != 0
    assert "has no answer to a search for" in more.err
    other = asked(capsys, runs_dir, "arch.exchanges=kept", "arch.replay=true", "arch.version=v2")
    assert "has no answer to the write of" in other.err, "another version is another system"


@pytest.mark.slow
def test_a_server_is_replayed_without_the_package_of_its_protocol(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    words = (*HOTPOT, "arch=server_memory", "arch.exchanges=kept")
    with monkeypatch.context() as installed:
        stand_in(runs_dir, installed)
        first = run(capsys, *words, "run_name=first")
    monkeypatch.setenv("DECISIONBENCH_ENVIRONMENTS", str(runs_dir / "empty"))
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


def test_that_a_system_did_not_start_is_no_answer(tmp_path: Path) -> None:
    def opened() -> Paid:
        raise SystemFailed("reset: nothing listens")

    system = Exchanges(tmp_path, {"arch": "paid"}, history(), opened)
    said = []
    for _ in range(2):
        with pytest.raises(SystemFailed) as failed:
            system.write(history()[0])
        said.append(str(failed.value))
    system.close()
    assert said == ["reset: nothing listens", "it has ended before: reset: nothing listens"]
    assert list(tmp_path.iterdir()) == []
    assert told(tmp_path, [], ["a"])[0] != []


class Asking(Paid):
    """A system that is paid for a call of each search, whose next call then raises."""

    def __init__(self, bill: list[str], error: BaseException) -> None:
        super().__init__(bill)
        self.error = error

    def search(self, query: str, limit: int) -> list[Found]:
        super().search(query, limit)
        raise self.error


@contextlib.contextmanager
def asking(
    place: Path, bill: list[str], error: BaseException | None, about: str = "asking"
) -> Iterator[tuple[Exchanges, Ledger]]:
    """Exchanges of a system whose model raises, or a replay, after the history was written."""
    opened = None if error is None else lambda: Asking(bill, error)
    ledger = Ledger()
    with track_usage(ledger, "recall", 0):
        system = Exchanges(place, {"arch": about, "model": "m"}, history(), opened)
        with track_usage(Ledger(), "ingest", 0), system.turn():
            for event in history():
                system.write(event)
        yield system, ledger


FAILED = ModelError("system_chat", "429", "later")
CALLS = [FAILED, StopRun("max_usd"), DoesNotFit(9000, 4096), KeyboardInterrupt(), ValueError("v")]


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("error", CALLS, ids=[type(error).__name__ for error in CALLS])
def test_what_was_paid_is_booked_whatever_ended_the_operation(
    error: BaseException, closed: bool, tmp_path: Path
) -> None:
    with asking(tmp_path, [], error) as (system, ledger):
        if closed:
            system.close()
        with pytest.raises(type(error)):
            system.search("a", 3)
    used = ledger.entries["recall"]
    assert (used.calls, used.paid_calls, used.tokens_in, used.paid_usd) == (1, 1, 10, 0.25)


def test_what_telling_it_again_cost_is_booked_where_a_model_fails_afterwards(
    tmp_path: Path,
) -> None:
    writes = len(history())
    with asking(tmp_path, [], FAILED) as (system, _):
        system.close()
    with asking(tmp_path, [], FAILED) as (system, ledger), pytest.raises(ModelError):
        system.search("a", 3)
    used = ledger.entries["recall"]
    assert (used.calls, used.paid_calls) == (1, writes + 1), "the writes' own were booked before"


def test_a_prompt_that_does_not_fit_is_recorded_as_that(tmp_path: Path) -> None:
    bill: list[str] = []
    with asking(tmp_path, bill, DoesNotFit(9000, 4096)) as (system, ledger):
        with pytest.raises(DoesNotFit) as first:
            system.search("a", 3)
        system.close()
    asked = len(bill)
    with asking(tmp_path, bill, None) as (system, replayed), pytest.raises(DoesNotFit) as again:
        system.search("a", 3)
    assert str(again.value) == str(first.value) == "does not fit: 9,000 of 4,096 tokens"
    booked, repeated = ledger.entries["recall"], replayed.entries["recall"]
    assert (repeated.calls, repeated.tokens_in) == (booked.calls, booked.tokens_in) == (1, 10)
    assert repeated.paid_calls == 0
    assert len(bill) == asked


def test_a_replay_says_that_rows_of_a_failed_call_are_not_kept(tmp_path: Path) -> None:
    with asking(tmp_path, [], FAILED) as (system, _):
        with pytest.raises(ModelError):
            system.search("a", 3)
        system.close()
    why = "none is kept where a call to a model failed"
    with asking(tmp_path, [], None) as (system, _), pytest.raises(StopRun, match=why) as said:
        system.search("a", 3)
    assert "\n" not in str(said.value)


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


def test_a_turn_in_which_nothing_was_recorded_leaves_no_file(tmp_path: Path) -> None:
    file = Recorded(tmp_path / "none.jsonl.gz", {}, [])
    with file.turn():
        pass
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "begun.jsonl.gz").touch()
    settings = ProcessSettings(command=("gone",), exchanges=str(tmp_path), replay=True)
    with pytest.raises(UserError, match="holds no exchanges"):
        settings.require_recorded()


def test_one_that_waited_for_a_file_that_is_gone_writes_to_that_which_is_there(
    tmp_path: Path,
) -> None:
    path = tmp_path / "one.jsonl.gz"
    waits, told = threading.Event(), Recorded(path, {}, [])

    class Waiting(Recorded):
        def _locked(self, file: io.FileIO) -> bool:
            waits.set()
            return super()._locked(file)

    other = Waiting(path, {}, [])
    thread = threading.Thread(target=other.put, args=("k", {}), kwargs={"at_once": True})
    with told.turn():
        thread.start()
        assert waits.wait(60)
    thread.join(60)
    assert Recorded(path, {}, []).get("k") == {}


def test_a_member_that_could_not_be_written_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "full.jsonl.gz"
    file = Recorded(path, {}, [])
    answers = {f"k{n}": {"found": [["shared", [], None], [f"text {n}", [], None]]} for n in (0, 1)}
    with monkeypatch.context() as full:
        full.setattr(_recorded, "gzip", Full)
        with pytest.raises(OSError, match="No space left"):
            file.put("k0", answers["k0"], at_once=True)
    file.put("k1", answers["k1"], at_once=True)
    read = Recorded(path, {}, [])
    assert {key: read.get(key) for key in answers} == answers


class Full:
    """In the place of gzip: what it makes can't be written."""

    @staticmethod
    def compress(text: bytes, level: int, mtime: int) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_ends_no_member_in_its_midst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "full.jsonl.gz"
    file = Recorded(path, {}, [])
    answers = {f"k{n}": {"found": [["shared", [], None], [f"text {n}", [], None]]} for n in (0, 1)}
    file.put("first", {}, at_once=True)
    whole = _recorded._write

    def half(file: io.FileIO, data: bytes) -> None:
        whole(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(_recorded, "_write", half)
        with pytest.raises(OSError, match="No space left"):
            file.put("k0", answers["k0"], at_once=True)
    file.put("k1", answers["k1"], at_once=True)
    read = Recorded(path, {}, [])
    assert {key: read.get(key) for key in answers} == answers


@pytest.mark.parametrize("waiting", [False, True], ids=["nothing waits", "an answer waits"])
def test_closing_waits_for_no_other_process(waiting: bool, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl.gz"
    Recorded(path, {}, []).put("k", {}, at_once=True)
    file = Recorded(path, {}, [])
    if waiting:
        file.put("l", {}, at_once=False)
    begun = threading.Event()

    def turn() -> None:
        begun.set()
        with file.turn():
            pass

    turning = threading.Thread(target=turn, daemon=True)
    closing = threading.Thread(target=file.close, daemon=True)
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        turning.start()
        assert begun.wait(60)
        closing.start()
        for thread in (closing, turning):
            thread.join(60)
            assert not thread.is_alive()
    file.flush()
    assert (Recorded(path, {}, []).get("l") is not None) == waiting, "kept until it can be written"


def test_a_history_that_another_process_has_can_be_closed_from_the_loop(tmp_path: Path) -> None:
    with asking(tmp_path, [], FAILED) as (system, _):
        system.close()
    (path,) = tmp_path.iterdir()
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        again = Exchanges(tmp_path, {"arch": "asking", "model": "m"}, history(), lambda: Paid([]))
        failed = list[str]()

        def turn() -> None:
            try:
                with again.turn():
                    failed.append("had its turn")
            except SystemFailed as error:
                failed.append(str(error))

        thread = threading.Thread(target=turn, daemon=True)
        thread.start()
        again.close()
        thread.join(60)
        assert failed == ["closed while another process had its history"]


def test_nothing_is_added_to_what_came_through_another_driver(tmp_path: Path) -> None:
    def asked(drivers: Mapping[str, str], queries: Sequence[str], replay: bool = False) -> None:
        system = Exchanges(
            tmp_path, {"arch": "paid"}, history(), None if replay else lambda: Paid([]),
            drivers=drivers,
        )  # fmt: skip
        with track_usage(Ledger(), "ingest", 0), system.turn():
            for event in history():
                system.write(event)
            for query in queries:
                system.search(query, 3)
        system.close()

    asked({"driver.py": "sha256:1"}, ["a"])
    asked({"driver.py": "sha256:1"}, ["a", "b"])
    asked({"driver.py": "sha256:2"}, ["a", "b"])  # nothing new: all is known
    asked({"driver.py": "sha256:2"}, ["a"], replay=True)
    for drivers in ({"driver.py": "sha256:2"}, {}, {"driver.py": "sha256:1", "more.py": "x"}):
        with pytest.raises(StopRun, match=r"recorded with another (driver|more)\.py"):
            asked(drivers, ["c"])


def test_a_file_that_names_no_drivers_is_added_to(tmp_path: Path) -> None:
    told(tmp_path, [], ["a"])
    system = Exchanges(
        tmp_path, {"arch": "paid"}, history(), lambda: Paid([]), drivers={"driver.py": "sha256:1"}
    )
    with track_usage(Ledger(), "ingest", 0), system.turn():
        for event in history():
            system.write(event)
        system.search("c", 3)
    system.close()


@pytest.mark.parametrize(
    "line",
    [b"0", b"[]", b'["format"]', b'{"key": "k", "found": [[9]]}', b'{"key": "k", "found": 3}',
     b'{"texts": 3}', b'{"found": []}', b"\xff"],
)  # fmt: skip
def test_a_line_that_is_no_exchange_is_damage(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "exchanges.gz"
    path.write_bytes(gzip.compress(line))
    with pytest.raises(DataError, match=r"exchanges\.gz: damaged: "):
        _recorded.Recorded(path, {}, ("a",))


def test_a_small_file_of_exchanges_does_not_unpack_to_a_large_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_recorded, "_MOST_UNPACKED", 1000)
    path = tmp_path / "exchanges.gz"
    path.write_bytes(gzip.compress(b'{"key": "k"}') + gzip.compress(b" " * 100_000))
    with pytest.raises(DataError, match="damaged: over 1,000 bytes at once"):
        _recorded.Recorded(path, {}, ("a",))
