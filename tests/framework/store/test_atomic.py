"""Files that are there whole or not at all, and the waits for other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from framework.errors import UserError
from framework.reporting.figures.style import FigureWriter
from framework.store.atomic import lock, one_at_a_time, replacing, write_text
from framework.store.chain import open_for_reading
from framework.store.processes import HOST

DEAD = 2**22 + 1
"""More than the largest number of a process."""


def test_a_link_in_the_place_of_a_draft_or_of_the_file_is_not_followed(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("what the user wrote")
    dead = f".report.html.{HOST}-{DEAD}-1.draft"
    for name in ("report.html", dead, f".report.html.{DEAD}.draft"):
        (tmp_path / name).symlink_to(own)
    write_text(tmp_path / "report.html", "page")
    assert own.read_text() == "what the user wrote"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own.txt", "report.html"]
    assert not (tmp_path / "report.html").is_symlink()


def test_the_draft_of_a_process_that_lives_or_of_another_machine_is_left(tmp_path: Path) -> None:
    living, far = f"{HOST}-{os.getppid()}-1", f"00000000-{DEAD}-1"
    others = [tmp_path / f".x.{whose}.draft" for whose in (os.getppid(), living, far)]
    for other in others:
        other.write_text("half")
    with replacing(tmp_path / "x") as draft, replacing(tmp_path / "x") as second:
        draft.write_text("whole")
        second.write_text("of another thread")
    assert [other.read_text() for other in others] == ["half"] * 3
    assert (tmp_path / "x").read_text() == "whole"


def test_a_lock_that_is_held_is_waited_for_and_then_told(tmp_path: Path) -> None:
    code = "import fcntl,sys\nf=open(sys.argv[1])\nfcntl.flock(f,2)\nprint(1,flush=True)\ninput()"
    (tmp_path / "held").touch()
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "held")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    with (tmp_path / "held").open() as file:
        with pytest.raises(UserError, match=r"it has been held for 0\.1 s by a process"):
            lock(file.fileno(), 0.1, "it")
        holder.communicate(b"\n", timeout=10)
        lock(file.fileno(), 0.1, "it")


def test_one_process_at_a_time_is_inside_and_nothing_is_left(tmp_path: Path) -> None:
    """Each adds one to a number that it has read: none is lost, however they take turns."""
    place, number = tmp_path / ".held", tmp_path / "number"
    number.write_text("0")
    place.touch()  # as one leaves it that was killed
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from framework.store.atomic import one_at_a_time\n"
        "place, number = map(Path, sys.argv[1:])\n"
        "for _ in range(100):\n"
        "    with one_at_a_time(place, lambda: None):\n"
        "        number.write_text(str(int(number.read_text()) + 1))\n"
    )
    words = [sys.executable, "-c", code, str(place), str(number)]
    started = [subprocess.Popen(words) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert number.read_text() == "300"
    assert not place.exists()


def test_who_was_killed_inside_keeps_nobody_out(tmp_path: Path) -> None:
    place, asked = tmp_path / ".held", []
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from framework.store.atomic import one_at_a_time\n"
        "with one_at_a_time(Path(sys.argv[1]), lambda: None):\n"
        "    print(1, flush=True)\n    input()\n"
    )
    inside = subprocess.Popen(
        [sys.executable, "-c", code, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert inside.stdout is not None
    inside.stdout.readline()

    def waiting() -> None:
        asked.append(place.exists())
        inside.kill()

    with one_at_a_time(place, waiting):
        assert asked == [True]
    inside.communicate(timeout=10)
    assert not place.exists()


def test_figures_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "figures").symlink_to(tmp_path)
    with pytest.raises(UserError, match="a symbolic link, where the report needs a directory"):
        FigureWriter(tmp_path / "figures")


@pytest.mark.parametrize("name", ["journal.jsonl", "answers.jsonl"])
def test_a_device_in_the_place_of_a_file_is_told_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "journal.jsonl").write_text("")
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(UserError, match="neither a file nor a directory"):
        open_for_reading(tmp_path / "journal.jsonl")
