from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.scale import (
    UNCOUNTED,
    Again,
    Kept,
    Size,
    Took,
    beyond,
    grown,
    keys_bytes,
    main,
    measure,
    read_again,
    read_too_much,
    table,
    table_again,
    took,
)
from framework.engine.run import execute
from framework.store import JOURNAL
from framework.store.answers import answer_records
from framework.store.directory import ANSWERS
from framework.store.segments import n_closed
from framework.store.state import load_state
from tests.trivial import trivial_plan

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_has_a_line_for_each_size() -> None:
    each = Took(cpu=90.0, peak=250.4, wall=48.0)
    size = Size(cases=3_000, run=each, verify=each, disk=9_000_000, segments=2)
    assert table([size]).splitlines()[-1] == (
        "| 3,000 | 1.5 | 30.0 | 250 | 3.00 | 2 | 90.0 | 250 |"
    )
    *_, heads, rule, last = table([size], ["shards=2"]).splitlines()
    assert heads.startswith("| cases | minutes | CPU, minutes | CPU, ms a case |")
    assert last == "| 3,000 | 0.8 | 1.5 | 30.0 | 250 | 3.00 | 2 | 90.0 | 250 |"
    assert heads.count("|") == rule.count("|") == last.count("|")


@pytest.mark.parametrize(
    ("words", "minutes", "said"),
    [
        (["shards=2"], 24.9, []),
        (["shards=2"], 25.1, ["100,000 cases: 25.1 minutes, 25 at most"]),
        (["domain.tokens=2000"], 60.0, []),
    ],
)
def test_two_shards_of_100_000_cases_take_25_minutes_at_most(
    words: list[str], minutes: float, said: list[str]
) -> None:
    took = Took(cpu=1.0, peak=250.0, wall=60 * minutes)
    size = Size(cases=100_000, run=took, verify=took, disk=9_000_000, segments=2)
    assert beyond([size], words) == said


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([(1_000, 216, 18.3), (10_000, 249, 6.1), (100_000, 272, 3.4)], []),
        ([(10_000, 249, 6.1), (100_000, 275, 3.4)], ["100,000 cases: 1.10 times the memory of"]),
        ([(100_000, 1_500, 3.4)], ["100,000 cases: 1500 MiB, 1,430 at most"]),
        ([(10_000, 249, 10.2)], ["10,000 cases: 10.20 KB a case, 10 at most"]),
        ([(1_000, 249, 10.2)], []),
    ],
)
def test_a_size_beyond_a_limit_is_told(
    sizes: list[tuple[int, float, float]], said: list[str]
) -> None:
    took = [
        Size(cases=n, run=Took(cpu=1, peak=peak), verify=Took(cpu=1, peak=1),
             disk=int(1000 * kb * n), segments=0)
        for n, peak, kb in sizes
    ]  # fmt: skip
    found = beyond(took)
    assert len(found) == len(said)
    assert all(map(str.startswith, found, said))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (2_300.0, []),
        (2_360.0, ["100,000 cases: 1.52 times the CPU time a case of 10,000, 1.5 at most"]),
    ],
)
def test_cases_that_take_longer_the_more_there_are_are_told(
    seconds: float, said: list[str]
) -> None:
    verify = Took(cpu=1, peak=1)
    sizes = [
        Size(cases=n, run=Took(cpu=cpu, peak=250), verify=verify, disk=n, segments=0)
        for n, cpu in ((10_000, 155.0), (100_000, seconds))
    ]
    assert beyond(sizes) == said


def test_what_the_caller_holds_is_not_counted_as_the_memory_of_what_it_starts(
    tmp_path: Path,
) -> None:
    held = bytearray(b"x" * 400_000_000)
    assert took(str(tmp_path), "-c", "print(1)").peak < 200
    assert len(held) == 400_000_000


def test_the_table_says_what_was_set_and_what_was_cut_off() -> None:
    each = Took(cpu=90.0, peak=250.4, wall=48.0)
    size = Size(
        cases=3_000, run=each, processes=2, uncounted=1, verify=each, disk=9_000_000, segments=2
    )
    said, _, *_, last = table([size], ["domain.tokens=2000"]).splitlines()
    assert said == "With `domain.tokens=2000`:"
    assert last.startswith("| 3,000 | > 1.5, cut off and resumed 2 times | 30.0 | 250 |")


@pytest.mark.slow
def test_a_size_that_was_cut_off_goes_on_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "benchmarks.scale", "--in", str(tmp_path), "300"]
    directory = tmp_path / "runs" / "scale-300"
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (directory / ANSWERS).exists() or not (directory / ANSWERS).stat().st_size:
        assert first.poll() is None
        time.sleep(0.05)
    (run,) = (
        int(found.parent.name)
        for found in Path("/proc").glob("[0-9]*/cmdline")
        if found.read_bytes().split(b"\0")[1:2] == [str(ROOT / "run.py").encode()]
        and (found.parent / "cwd").resolve() == tmp_path.resolve()
    )
    os.kill(run, signal.SIGTERM)
    assert first.wait(60) != 0
    monkeypatch.chdir(tmp_path.parent)
    size = measure(300, folder=Path(tmp_path.name))
    assert (size.processes, size.uncounted) == (2, 0)
    (one, other) = json.loads((tmp_path / "scale-300.json").read_text())["parts"]
    assert one["status"] != 0 == other["status"]
    assert size.run.cpu == pytest.approx(one["cpu"] + other["cpu"])
    assert measure(300, folder=tmp_path).run == size.run


def test_a_kept_size_is_one_of_its_words_and_counts_what_nobody_saw_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scale-9.json"
    kept = Kept.read(file, ["domain.tokens=2000"])
    kept.add(Took(cpu=0, peak=0, status=UNCOUNTED))  # begun, and never heard of again
    again = Kept.read(file, ["domain.tokens=2000"])
    again.add(Took(cpu=0, peak=0, status=UNCOUNTED))
    again.add(Took(cpu=5, peak=1))
    found = Kept.read(file, ["domain.tokens=2000"]).parts
    assert [part.status for part in found] == [UNCOUNTED, 0]
    with pytest.raises(SystemExit) as ended:
        main(["--in", str(tmp_path), "9"])
    assert ended.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "of --set ['domain.tokens=2000']: remove it" in said


@pytest.mark.slow
def test_a_small_size_is_measured() -> None:
    small = measure(20)
    assert small.segments == 0
    assert 5_000 < small.disk / small.cases < 40_000
    assert 50 < small.run.peak < 1_000
    assert small.run.cpu > small.verify.cpu > 0


def test_the_table_of_resumes_has_a_line_for_each_size() -> None:
    took = {"state": 1.0, "check": 0.5, "passed": 0.2, "lines": 0.3}
    again = Again(cases=3_000, segments=2, closed=12.0, read=0.05, peak=150.4, **took)
    assert table_again([again]).splitlines()[-1] == (
        "| 3,000 | 2 | 12.0 | 0.05 | 1.7 | 1.0 | 0.5 | 0.2 | 0.57 | 150 | 0.3 |"
    )
    assert read_too_much([again]) == []
    assert read_too_much([replace(again, read=33.61)]) == [
        "3,000 cases: 33.6 MB of segments, 33.6 at most"
    ]


def test_a_run_is_written_again_until_it_has_enough_cases_and_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = execute(trivial_plan(n_cases=5), tmp_path / "first").directory
    monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", 20_000)
    grown(first, tmp_path / "long", 23)
    assert n_closed(tmp_path / "long" / JOURNAL) >= 1
    read_again(str(tmp_path / "long"), str(tmp_path / "seconds.json"))
    seconds = json.loads((tmp_path / "seconds.json").read_text())
    assert seconds.keys() == {"state", "check", "passed", "lines"}
    assert min(seconds.values()) > 0
    places = (tmp_path / "long" / "segments").glob("rows-*")
    assert all(0 < keys_bytes(place) < place.stat().st_size for place in places)
    rows = load_state(tmp_path / "long").rows
    assert len({row.key for row in rows}) == 23
    wanted = [record["view"] for record in answer_records(first)]
    found = [record["view"] for record in answer_records(tmp_path / "long")]
    assert found == (wanted * 5)[:23]
