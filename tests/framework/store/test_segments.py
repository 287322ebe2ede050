"""Runs that close segments: the rows and records of a run that does not, also after kills."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework.errors import DataError, UserError
from framework.pipeline.path import Pipeline
from framework.records import Row
from framework.rows import KEY, flat, measured
from framework.store import JOURNAL, Journal, read, verify_run
from framework.store import journal as journals
from framework.store import segments as segmented
from framework.store.answers import answer_lines, answer_records, whole_answers
from framework.store.directory import ANSWERS, RunDirectory
from framework.store.parquet import outcomes_in, write_parquet
from framework.store.segments import CONTINUED, ROWS, SEGMENTS, close_segment, n_closed
from framework.store.segments import segment as segment_of
from framework.store.state import load_state, outcomes_of, rows_told
from framework.text.canonical import digest_entry
from tests.launching import HOTPOT, LOAN, framework, run

WHOLE, SHORT = "runs/whole", "runs/short"
PACKED = ("journal-000001.jsonl.gz", "answers-000001.jsonl.gz")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of two or three cases."""
    monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", 8_000)


@pytest.fixture
def closed(capsys: pytest.CaptureFixture[str], short: None) -> Path:
    """A finished run of six cases in several segments."""
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=short").status == 0
    assert n_closed(Path(SHORT) / JOURNAL) >= 2
    return Path(SHORT)


def problems(path: Path) -> list[str]:
    return list(verify_run(path).problems)


def same(one: Path, other: Path) -> bool:
    rows = [[measured([row]) for row in load_state(path).rows] for path in (one, other)]
    lines = [list(answer_lines(path)) for path in (one, other)]
    return rows[0] == rows[1] and lines[0] == lines[1]


@pytest.mark.slow
def test_segments_hold_what_one_file_would(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=whole").status == 0
    monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", 8_000)
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=short").status == 0
    whole, closed = Path(WHOLE), Path(SHORT)
    assert (n_closed(whole / JOURNAL), (whole / SEGMENTS).exists()) == (0, False)
    number = n_closed(closed / JOURNAL)
    assert sorted(p.name for p in (closed / SEGMENTS).iterdir()) == sorted(
        name.format(n)
        for name in ("answers-{:06}.jsonl.gz", "journal-{:06}.jsonl.gz", "rows-{:06}.parquet")
        for n in range(1, number + 1)
    )
    assert same(whole, closed)
    assert b"".join(answer_lines(closed)) == (whole / ANSWERS).read_bytes()
    with whole_answers(closed) as content:
        assert content.read() == (whole / ANSWERS).read_bytes()
    assert problems(closed) == []
    assert [e.type for e in read(closed / JOURNAL)].count(CONTINUED) == number
    for name in ("summary.json", "rows.parquet"):
        assert (closed / name).exists()
    assert framework(capsys, "verify", SHORT).status == 0
    shown = framework(capsys, "show", SHORT, "case=fx01")
    assert shown.out == framework(capsys, "show", WHOLE, "case=fx01").out


def test_the_same_content_gives_the_same_segment(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (file := tmp_path / name / ANSWERS).write_bytes(b"{}\n" * 1000)
        found.append(segmented.close_segment(file, 1))
    assert found[0] == found[1]
    assert gzip.decompress((tmp_path / "one/segments/answers-000001.jsonl.gz").read_bytes()) == (
        b"{}\n" * 1000
    )


class Killed(BaseException):
    """As the death of the process: nothing catches it."""


def _dies(at: str) -> Callable[..., Any]:
    """A function in the place of another, at which the process dies."""

    def die(*_: object, **__: object) -> None:
        raise Killed(at)

    return die


@pytest.mark.slow
@pytest.mark.parametrize("at", ["answers", "rows", "journal", "replacing", "begun anew"])
def test_a_kill_while_a_segment_is_closed_loses_and_doubles_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=whole").status == 0
    monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", 7_000)  # two records
    with monkeypatch.context() as patch:
        if at == "answers":  # the segment of the answers is there, no other
            patch.setattr("framework.store.directory.write_parquet", _dies(at))
        elif at == "rows":  # that and the rows are, the segment of the journal is not
            patch.setattr(journals, "close_segment", _dies(at))
        elif at == "journal":  # all are there, and the journal knows of neither
            patch.setattr(journals, "replacing", _dies(at))
        elif at == "replacing":  # a draft of the new journal is there
            patch.setattr(journals, "replacing", _dying_draft)
        else:  # the journal names the segments, and the answers still hold what is in one
            patch.setattr(RunDirectory, "_close_segment", _dying_late)
        with contextlib.suppress(Killed):
            run(capsys, *HOTPOT, "arch=bm25", "run_name=short")
    state = load_state(Path(SHORT))
    assert state.finished is None
    assert 0 < len(state.rows) < 6
    assert problems(Path(SHORT)) == [
        f"{JOURNAL}: unfinished after {1 + len(state.rows) + (at == 'begun anew')} events"
    ]
    assert run(capsys, f"resume={SHORT}").status == 0
    assert same(Path(WHOLE), Path(SHORT))
    assert problems(Path(SHORT)) == []
    assert n_closed(Path(SHORT) / JOURNAL) >= 2
    assert not [p for p in Path(SHORT).rglob("*") if p.name.startswith(".")]


KILLED_TWICE = [
    ("journal", "framework.store.directory.edited"),  # the journal is held, nothing was read of it
    ("journal", "framework.store.directory.remove_others"),  # what the first kill left is there
    ("journal", "framework.store.directory.Journal.append"),  # it is gone; no event tells of it
    ("begun anew", "framework.store.directory.Journal.append"),
    ("begun anew", "framework.store.journal.replacing"),  # within the closing of the next segment
]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "place"), KILLED_TWICE)
def test_a_kill_of_the_resume_loses_and_doubles_nothing_either(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, first: str, place: str
) -> None:
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=whole").status == 0
    monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", 8_000)
    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        if first == "journal":
            patch.setattr(journals, "replacing", _dies(first))
        else:
            patch.setattr(RunDirectory, "_close_segment", _dying_late)
        run(capsys, *HOTPOT, "arch=bm25", "run_name=short")
    before = len(load_state(Path(SHORT)).rows)

    def resumed() -> None:
        monkeypatch.setattr(place, _exits)
        run(capsys, f"resume={SHORT}")

    assert _status_of_child(resumed) == KILLED
    state = load_state(Path(SHORT))
    assert state.finished is None
    assert (len(state.rows) > before) == place.endswith("replacing")
    assert run(capsys, f"resume={SHORT}").status == 0
    assert same(Path(WHOLE), Path(SHORT))
    assert problems(Path(SHORT)) == []
    assert not [p for p in Path(SHORT).rglob("*") if p.name.startswith(".")]


KILLED = 9


def _exits(*_: object, **__: object) -> None:
    os._exit(KILLED)


def _status_of_child(do: Callable[[], None]) -> int:
    """The exit status of a child process that does it."""
    pid = os.fork()
    if pid == 0:
        try:
            do()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _cut_off(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(RunDirectory, "finish", _dies("finish"))
        run(capsys, *HOTPOT, "arch=bm25", "run_name=short")
    return Path(SHORT)


@pytest.mark.slow
def test_a_resume_folds_the_journal_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    path = _cut_off(capsys, monkeypatch)
    monkeypatch.setattr("framework.store.directory.load_state", _dies("folded again"))
    assert run(capsys, f"resume={path}").status == 0
    assert problems(path) == []


def test_a_state_that_the_journal_has_gone_beyond_is_read_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    path = _cut_off(capsys, monkeypatch)
    known = load_state(path)
    other = RunDirectory.reopen(path)  # another process resumes it meanwhile
    other.add(replace(known.rows[0], case_id="later"), {"view": ""})
    other.close()
    late = RunDirectory.reopen(path, known=known)
    late.close()
    assert [row.case_id for row in late.rows] == [*(row.case_id for row in known.rows), "later"]
    assert problems(path) == [
        f"{JOURNAL}: unfinished after {len(list(read(path / JOURNAL)))} events"
    ]
    assert [record["key"][0] for record in answer_records(path)][-1] == "later"


@contextlib.contextmanager
def _dying_draft(path: Path) -> Any:
    yield (draft := path.with_name(f".{path.name}.999999.draft"))
    assert draft.is_file()
    raise Killed("replacing")


def _dying_late(self: RunDirectory) -> None:
    files = segmented.close_segment(self.path / ANSWERS, self._closed + 1)
    write_parquet(
        rows_told(self.path, opened=True), rows := segment_of(self.path / ROWS, self._closed + 1)
    )
    files |= segmented.settled(rows)
    self._journal.close_segment(self._closed + 1, files)
    raise Killed("begun anew")


def _without_last_line(file: Path) -> None:
    if file.suffix == ".parquet":
        table = pq.read_table(file)
        return pq.write_table(table.slice(0, len(table) - 1), file)
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    file.write_bytes(gzip.compress(b"".join(lines[:-1])))


def _edited(file: Path) -> None:
    if file.suffix == ".parquet":
        table = pq.read_table(file)
        said = pa.array(["it failed"] * len(table))
        place = table.schema.get_field_index("error")
        return pq.write_table(table.set_column(place, "error", said), file)
    content = gzip.decompress(file.read_bytes())
    file.write_bytes(gzip.compress(content.replace(b'"error":""', b'"error":"x"', 1)))


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def _exchanged(file: Path) -> None:
    other = file.with_name(file.name.replace("000001", "000002"))
    one, two = file.read_bytes(), other.read_bytes()
    file.write_bytes(two)
    other.write_bytes(one)


def _one_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _packed_again(file: Path) -> None:
    if file.suffix == ".parquet":
        return pq.write_table(pq.read_table(file), file, compression="gzip")
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()), 1))


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PACKED, "rows-000001.parquet"])
@pytest.mark.parametrize(
    "change", [_pipe, _without_last_line, _edited, _cut, _exchanged, _packed_again, Path.unlink]
)
def test_a_segment_that_is_not_as_it_was_closed_is_found(
    closed: Path, capsys: pytest.CaptureFixture[str], name: str, change: Callable[[Path], None]
) -> None:
    change(closed / SEGMENTS / name)
    done = framework(capsys, "verify", SHORT)
    assert done.status == 1
    assert f"{SEGMENTS}/{name}" in done.out + done.err or f"{JOURNAL}:" in done.out
    assert "Traceback" not in done.out + done.err


def test_a_segment_too_many_is_found(closed: Path) -> None:
    shutil.copy(closed / SEGMENTS / "journal-000001.jsonl.gz", closed / SEGMENTS / "x.gz")
    assert problems(closed) == [f"{SEGMENTS}/x.gz: extra"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PACKED, "rows-000001.parquet"])
@pytest.mark.parametrize("change", [_packed_again, _cut, _edited, Path.unlink])
def test_an_unfinished_run_is_not_gone_on_with_after_a_changed_segment(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    short: None,
    name: str,
    change: Callable[[Path], None],
) -> None:
    path = _cut_off(capsys, monkeypatch)
    change(path / SEGMENTS / name)
    assert f"{SEGMENTS}/{name}: " in run(capsys, f"resume={path}").mistake


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PACKED, "rows-000001.parquet"])
@pytest.mark.parametrize("change", [_one_bit, _exchanged])
def test_a_changed_segment_of_the_same_size_is_found_before_the_run_is_sealed(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    short: None,
    name: str,
    change: Callable[[Path], None],
) -> None:
    path = _cut_off(capsys, monkeypatch)
    change(path / SEGMENTS / name)
    assert SEGMENTS in (told := run(capsys, f"resume={path}").mistake) or JOURNAL in told
    assert b"run.finished" not in (path / JOURNAL).read_bytes()
    assert framework(capsys, "verify", str(path)).status != 0


OPENED: list[str] = []
"""What was opened under this name, while a test asks: no hook can be taken back."""


def _note(event: str, given: tuple[Any, ...]) -> None:
    if event == "open" and OPENED and isinstance(given[0], str):
        OPENED.append(given[0])


@pytest.mark.slow
def test_a_resume_reads_of_closed_segments_the_first_line_and_the_keys_of_rows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=whole").status == 0
    path = _cut_off(capsys, monkeypatch)
    columns: list[Sequence[str]] = []
    read_columns = pq.ParquetFile.read

    def noted(self: Any, names: Sequence[str]) -> Any:
        columns.append(names)
        return read_columns(self, names)

    sys.addaudithook(_note)
    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetFile, "read", noted)
        OPENED.append("from here")
        resumed = RunDirectory.reopen(path, known=load_state(path))
    opened = {Path(name).name for name in OPENED if SEGMENTS in name}
    OPENED.clear()
    assert opened == {"journal-000001.jsonl.gz"}  # for what the run began with
    assert columns == [[*KEY, "error"]] * n_closed(path / JOURNAL)
    assert len(resumed.began_with) == resumed.n_rows == len(resumed.rows) == 6
    resumed.close()
    assert run(capsys, f"resume={path}").status == 0
    assert same(Path(WHOLE), path)


def test_rows_are_there_as_parquet_while_the_run_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    path = _cut_off(capsys, monkeypatch)
    number = n_closed(path / JOURNAL)
    parts = [pq.read_table(segment_of(path / ROWS, n)).to_pylist() for n in range(1, number + 1)]
    rows = [line for part in parts for line in part]
    told = [flat(row, timing=True) for row in load_state(path).rows][: len(rows)]
    assert number >= 2
    pairs = zip(rows, told, strict=True)
    assert all(row == {name: line[name] for name in row} for row, line in pairs)


@pytest.mark.slow
def test_cases_taken_back_are_measured_again_before_a_segment_is_closed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=whole").status == 0
    measure = Pipeline._measure

    async def failing(self: Pipeline, row: Any, job: Any, *rest: Any) -> Any:
        if job.case.id in ("fx01", "fx05"):
            raise RuntimeError("the server is away")
        return await measure(self, row, job, *rest)

    path = Path(SHORT)
    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "_measure", failing)
        assert run(capsys, *HOTPOT, "arch=bm25", "max_errors=1", "run_name=short").status == 1
    failed = {key[0] for n in range(1, n_closed(path / JOURNAL) + 1)
              for key, error in outcomes_in(segment_of(path / ROWS, n)) if error}  # fmt: skip
    assert failed, "a failed case is in a closed segment"
    left = []
    close = RunDirectory._close_segment

    def noted(self: RunDirectory) -> None:
        left.append(set(self._retried))
        close(self)

    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(RunDirectory, "_close_segment", noted)
        patch.setattr(RunDirectory, "finish", _dies("finish"))
        run(capsys, f"resume={SHORT}")
    assert left, "a segment was closed after the cases were taken back"
    assert not any(left)
    assert not any(outcomes_of(load_state(path)).values())
    assert run(capsys, f"resume={SHORT}").status == 0
    assert problems(path) == []
    one, other = (measured(load_state(place).rows) for place in (Path(WHOLE), path))
    assert one == other


@pytest.mark.slow
def test_a_run_of_before_there_were_rows_in_segments_is_gone_on_with(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    assert run(capsys, *HOTPOT, "arch=bm25", "run_name=whole").status == 0
    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr("framework.store.directory.write_parquet", lambda *_: None)
        patch.setattr("framework.store.directory.settled", _state_of_before)
        patch.setattr(RunDirectory, "add", _dies_after(RunDirectory.add, 4))
        run(capsys, *HOTPOT, "arch=bm25", "run_name=short")
    state, path = load_state(Path(SHORT)), Path(SHORT)
    assert len(state.rows) == 4
    assert not list((path / SEGMENTS).glob("rows*"))
    assert list((path / SEGMENTS).glob("state*"))
    assert run(capsys, f"resume={path}").status == 0  # whose next segment has its rows
    assert list((path / SEGMENTS).glob("rows*"))
    assert same(Path(WHOLE), path)
    assert problems(path) == []
    (path / SEGMENTS / "state-000001.jsonl.gz").unlink()
    assert f"{SEGMENTS}/state-000001.jsonl.gz: missing" in problems(path)


def _state_of_before(rows: Path) -> dict[str, str]:
    """In place of rows the segment of rows as JSON that was closed once."""
    place = rows.with_name(rows.name.replace("rows", "state").replace("parquet", "jsonl.gz"))
    place.write_bytes(gzip.compress(b"{}"))
    return {segmented.name_of(place): digest_entry(place)}


def _dies_after(add: Callable[..., None], cases: int) -> Callable[..., None]:
    left = [cases]

    def limited(*given: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed("add")
        add(*given)

    return limited


def test_rows_that_tell_other_than_their_events_are_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    def lying(rows: Sequence[Row], path: Path) -> None:
        own = path.parent.name == SEGMENTS
        write_parquet([replace(row, error="x") for row in rows] if own else rows, path)

    with monkeypatch.context() as patch:
        patch.setattr("framework.store.directory.write_parquet", lying)
        assert run(capsys, *HOTPOT, "arch=bm25", "run_name=short").status == 0
    number = n_closed(Path(SHORT) / JOURNAL)
    assert problems(Path(SHORT)) == [
        f"{SEGMENTS}/rows-{n:06}.parquet: not what its events tell" for n in range(1, number + 1)
    ]


@pytest.mark.slow
def test_a_planted_segment_of_an_unfinished_run_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(RunDirectory, "finish", _dies("finish"))
        run(capsys, *HOTPOT, "arch=bm25", "run_name=short")
    (Path(SHORT) / SEGMENTS / "journal-000099.jsonl.gz").write_bytes(b"")
    assert run(capsys, f"resume={SHORT}").mistake.endswith("journal-000099.jsonl.gz: extra")


def test_a_writer_that_comes_while_the_journal_begins_anew_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / JOURNAL
    first = Journal.create(path)
    first.append("run.started", {})
    hold = journals._hold

    def late(file: Any, place: Path) -> None:
        first.close_segment(1, {})  # between the other's opening of the file and its lock
        hold(file, place)

    with monkeypatch.context() as patch:
        patch.setattr(journals, "_hold", late)
        with pytest.raises(UserError, match="another process is writing"):
            patch_and_open(patch, hold, path)
    first.close()


def patch_and_open(patch: pytest.MonkeyPatch, hold: Any, path: Path) -> None:
    late = journals._hold

    def once(file: Any, place: Path) -> None:
        patch.setattr(journals, "_hold", hold)
        late(file, place)

    patch.setattr(journals, "_hold", once)
    Journal.open(path)


def test_a_segment_that_unpacks_to_too_much_is_refused(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmented, "_MOST_BYTES", 1_000)
    with pytest.raises(DataError, match="unpacks to more than 1000 bytes"):
        list(answer_records(closed))


@pytest.mark.slow
def test_what_is_made_of_a_run_does_not_hang_on_segments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {}
    for name, size in (("whole", 1 << 25), ("short", 20_000)):
        monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", size)
        done = run(capsys, *LOAN, "arch=bm25", "n_cases=6", f"run_name={name}", "repeats=2")
        assert done.status == 0, done.err
        again = framework(
            capsys, "rescore", f"runs/{name}", "--axes", "eda", "--out", f"runs/{name}-again"
        )
        assert again.status == 0, again.err
        assert framework(capsys, "replay", f"runs/{name}").status == 0
        figures = json.loads(Path(f"runs/{name}/summary.json").read_text())
        made[name] = figures["axes"], measured(load_state(Path(f"runs/{name}-again")).rows)
    assert n_closed(Path("runs/short") / JOURNAL) >= 2
    assert made["whole"] == made["short"]


def test_a_segment_that_is_closed_while_the_answers_are_read_takes_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ANSWERS
    path.write_bytes(b"one\ntwo\n")
    asked = []

    def closed(journal: Path) -> int:
        """As of a run whose writer closes a segment after the answers were opened, once."""
        asked.append(journal)
        if len(asked) == 2:
            close_segment(path, 1)
            path.write_bytes(b"three\n")
        return int(len(asked) > 1)

    monkeypatch.setattr("framework.store.answers.n_closed", closed)
    assert list(answer_lines(tmp_path)) == [b"one\n", b"two\n", b"three\n"]
