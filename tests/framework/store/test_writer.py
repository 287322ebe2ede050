from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import DataError, UserError
from framework.store import FINISHED, Clock, Journal, read, utc_now, verify
from framework.store.event import RECOVERED
from framework.text.canonical import CanonicalError

Ticking = Callable[[int], Clock]
ROOT = Path(__file__).resolve().parents[3]


def python(script: str, *args: object) -> subprocess.Popen[str]:
    """Start a Python process with a script that may use `Journal`."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import os, sys, time\n{script}", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def test_time_is_utc_and_the_actor_is_told(tmp_path: Path) -> None:
    moment = datetime.fromisoformat("2026-03-01T12:00:00+02:00")
    with Journal.create(tmp_path / "j", clock=lambda: moment) as journal:
        event = journal.append("case.done", {}, actor="model:claude-1@2026")
    assert (event.time, event.actor) == ("2026-03-01T10:00:00.000000+00:00", "model:claude-1@2026")


@pytest.mark.parametrize(
    ("type_", "payload", "actor"),
    [
        ("", {}, "x"),
        ("Case", {}, "x"),
        ("case..done", {}, "x"),
        ("case.done\n", {}, "x"),
        ("case.done", {}, ""),
        ("case.done", {}, 'a"b'),
        ("case.done", {}, "é"),
        ("case.done", [], "x"),
        ("case.done", None, "x"),
        (FINISHED, {}, "x"),
    ],
)
def test_refuses_what_is_not_an_event(
    tmp_path: Path, type_: str, payload: object, actor: str
) -> None:
    with Journal.create(tmp_path / "j") as journal:
        with pytest.raises(ValueError, match=r"type|actor|payload|finish"):
            journal.append(type_, payload, actor=actor)
        with pytest.raises(CanonicalError, match=r"\$\.x: nan"):
            journal.append("case.done", {"x": float("nan")})
        assert journal.n_events == 0
    assert (tmp_path / "j").read_bytes() == b""


def test_refuses_a_clock_without_a_time_zone(tmp_path: Path) -> None:
    with (
        Journal.create(tmp_path / "j", clock=lambda: datetime(2026, 1, 1)) as journal,
        pytest.raises(ValueError, match="time zone"),
    ):
        journal.append("case.done", {})


def test_what_was_returned_does_not_change_with_the_payload(tmp_path: Path) -> None:
    payload: dict[str, Any] = {"a": [1], "b": (2, 3)}
    with Journal.create(tmp_path / "j") as journal:
        event = journal.append("case.done", payload)
    payload["a"].append(2)
    assert event.payload == {"a": [1], "b": [2, 3]}


def test_creating_never_overwrites(finished: Path) -> None:
    before = finished.read_bytes()
    with pytest.raises(UserError, match=f"there is a journal already: {finished}"):
        Journal.create(finished)
    assert finished.read_bytes() == before


def test_a_place_that_cannot_be_written_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot create the journal .*: No such file"):
        Journal.create(tmp_path / "absent" / "j")
    with pytest.raises(UserError, match=r"cannot open the journal .*: No such file"):
        Journal.open(tmp_path / "j")
    with pytest.raises(UserError, match=r"cannot open the journal .*: Is a directory"):
        Journal.open(tmp_path)


def test_nothing_follows_the_end(finished: Path) -> None:
    with pytest.raises(UserError, match="is finished: nothing can be added"):
        Journal.open(finished)
    with Journal.create(finished.with_name("other")) as journal:
        journal.finish({})
        assert journal.finished
        with pytest.raises(ValueError, match="is finished"):
            journal.append("case.done", {})
        with pytest.raises(ValueError, match="is finished"):
            journal.finish({})
    with pytest.raises(ValueError, match="is closed"):
        journal.append("case.done", {})


def test_the_end_counts_its_events(finished: Path) -> None:
    assert list(read(finished))[-1].payload == {"n_events": 6, "status": "done"}
    with (
        Journal.create(finished.with_name("other")) as journal,
        pytest.raises(ValueError, match="n_events is counted"),
    ):
        journal.finish({"n_events": 3})


@given(cuts=st.lists(st.integers(0, 8), max_size=4), fsync=st.booleans())
def test_reopened_anywhere_the_bytes_are_those_of_an_undisturbed_run(
    cuts: list[int], fsync: bool, ticking: Ticking, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = tmp_path_factory.mktemp("run")
    with Journal.create(run / "whole", clock=ticking(0)) as whole:
        for number in range(8):
            whole.append("case.done", {"n": number})
    journal = Journal.create(run / "cut", clock=ticking(0), fsync=fsync)
    for number in range(8):
        for _ in range(cuts.count(number)):
            journal.close()
            journal = Journal.open(run / "cut", clock=ticking(number), fsync=fsync)
            assert journal.n_events == number
        journal.append("case.done", {"n": number})
    journal.close()
    assert (run / "cut").read_bytes() == (run / "whole").read_bytes()


def test_a_last_line_torn_at_any_byte_is_set_aside(tmp_path: Path, ticking: Ticking) -> None:
    path = tmp_path / "whole"
    with Journal.create(path, clock=ticking(0)) as journal:
        for number in range(3):
            journal.append("case.done", {"n": number, "text": "é\u2028"})
    content = path.read_bytes()
    sound = content.rindex(b"\n", 0, -1) + 1
    for end in range(sound, len(content) + 1):
        torn = content[sound:end] if end < len(content) else b""
        path = tmp_path / f"torn-at-{end}" / "journal.jsonl"
        path.parent.mkdir()
        path.write_bytes(content[:end])
        with Journal.open(path, clock=ticking(3)) as journal:
            journal.append("case.done", {"n": "next"})
            journal.finish({})
        assert verify(path).ok
        events = list(read(path))
        kept = sorted(set(path.parent.iterdir()) - {path})
        if torn:
            assert path.read_bytes().startswith(content[:sound] + b'{"actor":"journal"')
            assert [event.type for event in events[2:]] == [RECOVERED, "case.done", FINISHED]
            assert events[2].payload == {"bytes": len(torn), "kept_as": "journal.jsonl.torn-1"}
            assert [file.name for file in kept] == ["journal.jsonl.torn-1"]
            assert kept[0].read_bytes() == torn
        else:
            assert RECOVERED not in [event.type for event in events]
            assert not kept


def test_a_torn_first_line_and_a_second_tear(tmp_path: Path) -> None:
    path = tmp_path / "j"
    for number, torn in enumerate([b'{"actor"', b"\x00\x00", b"not JSON\n"], start=1):
        with path.open("ab") as file:
            file.write(torn)
        with Journal.open(path) as journal:
            assert journal.n_events == number
        assert (tmp_path / f"j.torn-{number}").read_bytes() == torn
    assert [event.payload["bytes"] for event in read(path)] == [8, 2, 9]


def test_any_other_damage_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal.create(path) as journal:
        for number in range(3):
            journal.append("case.done", {"n": number})
    lines = path.read_bytes().splitlines(keepends=True)
    for place, damaged in [
        (2, [lines[0], lines[1].replace(b'"n":1', b'"n":7'), lines[2]]),
        (3, [lines[0], lines[1], lines[2].replace(b'"n":2', b'"n":7')]),
        (2, [lines[0], lines[1][:-9] + b"\n", lines[2]]),
        (1, [lines[1], lines[2]]),
        (4, [*lines, lines[2]]),
        (1, [b"{}\n"]),
    ]:
        path.write_bytes(b"".join(damaged))
        with pytest.raises(DataError) as caught:
            Journal.open(path)
        assert str(caught.value).startswith(f"{path}:{place}: ")
        assert path.read_bytes() == b"".join(damaged)
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(b"".join(lines))
    Journal.open(path).close()  # the refusals gave the lock back


class Disk:
    """Stands for `os.pwrite`: writes seven bytes at a time, or `room` bytes and then fails."""

    def __init__(self) -> None:
        self.room = 0
        self.failure: BaseException | None = None
        self._pwrite = os.pwrite

    def __call__(self, fd: int, data: memoryview, offset: int) -> int:
        if self.failure is None:
            return self._pwrite(fd, data[:7], offset)
        self._pwrite(fd, data[: self.room], offset)
        raise self.failure


@pytest.mark.parametrize("room", [0, 5, 10_000])
@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), UserError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_failed_or_interrupted_write_never_happened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    room: int,
    failure: BaseException,
    told: type[BaseException],
) -> None:
    path = tmp_path / "j"
    disk = Disk()
    monkeypatch.setattr(os, "pwrite", disk)
    with Journal.create(path) as journal:
        journal.append("case.done", {"n": 0})
        disk.failure, disk.room = failure, room
        for _ in range(2):
            with pytest.raises(told):
                journal.append("case.done", {"lost": "x" * 500})
            assert journal.n_events == 1
        disk.failure = None
        journal.append("case.done", {"n": 1})
        assert [event.payload for event in read(path)] == [{"n": 0}, {"n": 1}]
        disk.failure = failure
        with pytest.raises(told):
            journal.append("case.done", {"lost": 1})
    verdict = verify(path)
    assert (verdict.problem, verdict.intact) == ("unfinished after 2 events", True)


def test_threads_may_share_a_journal(tmp_path: Path) -> None:
    def yielding() -> datetime:
        time.sleep(0.0001)  # lets another thread in, in the middle of an append
        return utc_now()

    path = tmp_path / "j"
    with Journal.create(path, clock=yielding) as journal:

        def work(worker: int) -> None:
            for number in range(50):
                journal.append("case.done", {"worker": worker, "n": number})

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.finish({})
    assert verify(path).n_events == 201
    for worker in range(4):
        mine = [event.payload for event in read(path) if event.payload.get("worker") == worker]
        assert [payload["n"] for payload in mine] == list(range(50))


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    opening = """
from framework.errors import UserError
from framework.store import Journal
try:
    Journal.open(sys.argv[1]).append("case.done", {"by": "the second"})
except UserError as error:
    print(error)
"""
    with Journal.create(path) as journal:
        journal.append("case.done", {})
        out, err = python(opening, path).communicate(timeout=30)
        assert (out, err) == (f"another process is writing the journal {path}\n", "")
        with pytest.raises(UserError, match="another process is writing"):
            Journal.open(path)
        journal.append("case.done", {})
        assert verify(path).n_events == 2
    out, err = python(opening, path).communicate(timeout=30)
    assert (out, err) == ("", "")
    assert [event.payload for event in read(path)] == [{}, {}, {"by": "the second"}]


def test_a_forked_child_neither_writes_nor_keeps_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    forking = """
import threading
from framework.store import Journal, utc_now
inside, leave = threading.Event(), threading.Event()
def slow():
    inside.set()
    leave.wait()
    return utc_now()
journal = Journal.create(sys.argv[1], clock=slow)
thread = threading.Thread(target=journal.append, args=("case.done", {}))
thread.start()
inside.wait()
child = os.fork()  # in the middle of the other thread's append
if child == 0:
    try:
        journal.append("case.done", {"by": "the child"})
    except ValueError:
        os.write(1, b"refused\\n")
    journal.close()
    sys.stdin.read()
    os._exit(0)
leave.set()
thread.join()
os.write(1, b"%d\\n" % child)
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", f"import os, sys, time\n{forking}", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    ) as parent:
        try:
            assert parent.stdout is not None
            said = {parent.stdout.readline().strip() for _ in range(2)}
            assert "refused" in said
            child = int(max(said - {"refused"}))
            with pytest.raises(UserError, match="another process is writing"):
                Journal.open(path)
            parent.kill()
            parent.wait(timeout=30)
            os.kill(child, 0)  # the child lives on, waiting for its input to end
            with Journal.open(path) as journal:
                assert journal.n_events == 1
        finally:
            os.killpg(parent.pid, signal.SIGKILL)


def test_killed_while_writing_everything_acknowledged_is_there(tmp_path: Path) -> None:
    writing = """
from framework.store import Journal
journal = Journal.create(sys.argv[1])
acknowledged = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY)
number = 0
while True:
    journal.append("case.done", {"n": number, "text": "x" * (number * 37 % 5000)})
    number += 1
    os.pwrite(acknowledged, b"%08d" % number, 0)
"""
    for attempt in range(4):
        path, count = tmp_path / f"{attempt}.jsonl", tmp_path / f"{attempt}.count"
        process = python(writing, path, count)
        deadline = time.monotonic() + 30
        while not (count.exists() and count.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.013 * attempt)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        acknowledged = int(count.read_bytes())
        assert acknowledged >= 1
        with Journal.open(path) as journal:
            journal.finish({})
        assert verify(path).ok
        done = [event.payload["n"] for event in read(path) if event.type == "case.done"]
        assert done == list(range(len(done)))
        assert len(done) in {acknowledged, acknowledged + 1}


def test_an_event_costs_one_write_of_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the cost cannot grow with the length of the journal."""
    calls: list[tuple[int, int]] = []
    pwrite = os.pwrite

    def counting(fd: int, data: memoryview, offset: int) -> int:
        calls.append((offset, len(data)))
        return pwrite(fd, data, offset)

    monkeypatch.setattr(os, "pwrite", counting)
    path = tmp_path / "j"
    with Journal.create(path) as journal:
        for _ in range(20):
            journal.append("case.done", {})
    lengths = [len(line) for line in path.read_bytes().splitlines(keepends=True)]
    assert calls == [(sum(lengths[:number]), length) for number, length in enumerate(lengths)]
