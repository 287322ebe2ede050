"""The register of openings: one entry a run, a second run told, a changed register found out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from framework.errors import DataError, UserError
from framework.store import JOURNAL, Journal, read
from framework.store.directory import SWEEP_PLAN
from framework.store.openings import OPENINGS, register, register_of
from plugins.recipes.regimes.opened import flags


def begun(path: Path) -> Path:
    path.mkdir(parents=True)
    with Journal.create(path / JOURNAL) as journal:
        journal.append("run.started", {})
    return path


def test_a_run_is_entered_once_and_the_next_is_told_of_it(tmp_path: Path) -> None:
    one, other = begun(tmp_path / "one"), begun(tmp_path / "other")
    first = register("sha256:a", one)
    assert (first["number"], first["before"]) == (1, [])
    assert register("sha256:a", one) == first, "a run that is resumed"
    assert register("sha256:b", other)["number"] == 1, "other cases"
    path = register_of(one)
    assert path == tmp_path / OPENINGS
    assert list(flags(first, path)) == []
    second = register("sha256:a", other)
    assert (second["number"], second["before"]) == (2, ["one"])
    assert list(flags(second, path)) == ["TEST had been opened before, by one"]
    assert list(flags(first, path)) == ["TEST was opened again since, by other"]
    assert len(list(read(path))) == 3


def test_the_jobs_of_a_sweep_share_the_register_of_the_sweep(tmp_path: Path) -> None:
    job = begun(tmp_path / "sweep" / "0")
    (tmp_path / "sweep" / SWEEP_PLAN).touch()
    assert register_of(job) == register_of(tmp_path / "sweep") == tmp_path / OPENINGS


def test_a_name_used_twice_is_two_runs(tmp_path: Path) -> None:
    register("sha256:a", begun(tmp_path / "one"))
    (tmp_path / "one").rename(tmp_path / "kept")
    assert register("sha256:a", begun(tmp_path / "one"))["number"] == 2


def test_a_register_taken_away_or_shortened_or_edited_is_found_out(tmp_path: Path) -> None:
    one, other = begun(tmp_path / "one"), begun(tmp_path / "other")
    register("sha256:a", one)
    opening = register("sha256:b", other)
    path = register_of(one)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    assert [*flags(opening, path)] == [
        "the register openings.jsonl lacks this opening of TEST: shortened or rewritten"
    ]
    path.write_bytes(lines[0].replace(b"sha256:a", b"sha256:c") + lines[1])
    assert "damaged" in next(flags(opening, path))
    with pytest.raises(DataError):
        register("sha256:d", one)
    path.unlink()
    assert "is missing" in next(flags(opening, path))


def test_loops_that_end_together_wait_for_each_other(tmp_path: Path) -> None:
    runs = [begun(tmp_path / str(i)) for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda run: register("sha256:a", run)["number"], runs))
    assert sorted(found) == list(range(1, 9))


def test_a_root_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    one = begun(tmp_path / "one")
    (tmp_path / OPENINGS).mkdir()
    with pytest.raises(UserError):
        register("sha256:a", one)
