"""A run directory: created whole or not at all, appended to case by case, sealed at the end.

`answers.jsonl` is written before the journal's event of the case, which holds where the answers
file then ended and the digest of the record: after a kill, what stands behind the last such place
was never counted and is cut, and what stands before it must be what was written.
"""

from __future__ import annotations

import fcntl
import glob
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import yaml

from framework.errors import UserError
from framework.records import Row, RowKey
from framework.registry import plugins
from framework.rows import PackedRows, chosen, from_plain, to_plain
from framework.store import (
    JOURNAL,
    MANIFEST,
    Clock,
    Journal,
    JournalEvent,
    seal,
    utc_now,
)
from framework.store.atomic import as_json, write_json
from framework.store.parquet import write_parquet
from framework.store.seal import ANSWERS as ANSWERS
from framework.store.seal import ENDS, RECORD, WRITTEN, digest_of, edited
from framework.store.segments import ROWS as ROWS
from framework.store.segments import (
    SEGMENT_BYTES,
    SEGMENTS,
    STATE,
    close_segment,
    n_closed,
    names,
    remove_others,
    segment,
    settled,
)
from framework.store.state import (
    SUMMARY,
    LateRows,
    State,
    load_state,
    outcomes_of,
    protocol_events,
    rows_told,
)
from framework.text.canonical import canonical_json, digest_bytes, files_below
from framework.text.keys import without_keys
from framework.text.reading import read_json as bounded

CONFIG: Final = "config.yaml"
SWEEP_PLAN: Final = "sweep_plan.json"
"""What makes a directory that of a sweep."""
SWEEP: Final = "sweep.json"
COMPARISON: Final = "comparison.csv"
HTML: Final = "report.html"
MARKDOWN: Final = "report.md"
FIGURES: Final = "figures"
JOB_LOG: Final = "job.log"


@cache
def unsealed() -> frozenset[str]:
    """Names that may come or change after the seal: copies and pictures of what is sealed.

    Each is named, those of figures by the sections of the report that draw them.
    """
    drawn = [name for section in plugins("section") for name in section.cls.figures]
    figures = {f"{FIGURES}/{name}.{kind}" for name in drawn for kind in ("png", "svg")}
    return frozenset(figures) | {JOB_LOG, "tracking.json", HTML, MARKDOWN}


class RunDirectory:
    """One run on disk, open for writing.

    began_with : the error of each row that was there when it was opened, by its key, "" for none.
    n_rows : how many rows there are now.
    """

    def __init__(
        self,
        path: Path,
        journal: Journal,
        state: State,
        began_with: Mapping[RowKey, str] = MappingProxyType({}),
        retried: Iterable[RowKey] = (),
    ) -> None:
        self.path = path
        self._journal = journal
        self._answers = (path / ANSWERS).open("r+b", buffering=0)
        self._answers.truncate(state.answers_end)
        self._answers.seek(state.answers_end)
        # Those of closed segments are read when they are asked for: at the end.
        self._rows = None if isinstance(state.rows, LateRows) else PackedRows(state.rows)
        self._closed = n_closed(path / JOURNAL)
        self._retried = set(retried)  # and not measured again yet
        self.began_with = began_with
        self.n_rows = len(began_with)

    @property
    def rows(self) -> Sequence[Row]:
        """Every row so far."""
        if self._rows is None:
            self._rows = rows_told(self.path)
        return self._rows

    @classmethod
    def create(
        cls,
        path: Path,
        started: Mapping[str, Any],
        manifest: Mapping[str, Any],
        inherited: Iterable[JournalEvent] = (),
        clock: Clock = utc_now,
    ) -> RunDirectory:
        """Make the directory with its configuration, manifest and journal, in one step.

        `started` is what the journal begins with, the configuration among it as `config`;
        `inherited` are events of another run that this one begins with. Raises UserError when the
        directory exists already or can't be written.
        """
        with drafted(path) as draft:
            cls.begun_in(draft, started, manifest, inherited, clock).close()
        return cls(
            path, Journal.open(path / JOURNAL, clock=clock), State(path=path, started=started)
        )

    @classmethod
    def begun_in(
        cls,
        draft: Path,
        started: Mapping[str, Any],
        manifest: Mapping[str, Any],
        inherited: Iterable[JournalEvent] = (),
        clock: Clock = utc_now,
    ) -> RunDirectory:
        """The same in a draft that is there; what it holds already is of the run from its begin."""
        (draft / CONFIG).write_text(_yaml(started["config"]), encoding="utf-8")
        (draft / MANIFEST).write_text(as_json(manifest), encoding="utf-8")
        written = {name: digest_of(name, file) for name, file in files_below(draft)}
        (draft / ANSWERS).touch()
        journal = Journal.create(draft / JOURNAL, clock=clock)
        journal.append("run.started", {**started, WRITTEN: written})
        for event in inherited:
            journal.append(event.type, dict(event.payload))
        return cls(draft, journal, State(path=draft, started=started))

    @classmethod
    def reopen(
        cls,
        path: Path,
        changed: Sequence[str] = (),
        known: State | None = None,
        again: bool = True,
    ) -> RunDirectory:
        """Resume a run that was cut off; `changed` is recorded beside the number of rows.

        known : its state, which is read again only where the journal has another end by now.
        Where too many cases had failed and cases can be measured `again`, the failed ones are taken
        back, to be run again: whatever made them fail may have passed. Their first records stay in
        journal and answers.

        Raises UserError when there is no run, it is finished, another process writes it, or a file
        is not what the journal says that was written.
        """
        journal = Journal.open(path / JOURNAL)
        # Only now, as nobody else can write it any more.
        state = known if known and known.head == journal.head_hash else load_state(path)
        if problem := next(chain(edited(path, closed=False), strangers(path, state.started)), None):
            journal.close()
            raise UserError(f"{path}: {problem}")
        retry = state.retry and again
        outcomes = outcomes_of(state)
        retried = {key for key, error in outcomes.items() if error and retry}
        told = {"retried": [list(key) for key in outcomes if key in retried]} if retried else {}
        kept = {key: error for key, error in outcomes.items() if key not in retried}
        if retried and not isinstance(state.rows, LateRows):
            state = replace(state, rows=chosen(state.rows, lambda row: row.key not in retried))
        remove_others(_growing(path), n_closed(path / JOURNAL))
        journal.append("run.resumed", {"rows": len(kept), "changed": list(changed), **told})
        return cls(path, journal, state, kept, retried)

    @staticmethod
    def is_held(path: Path) -> bool:
        """Whether another process is writing the run."""
        return _is_locked(path / JOURNAL)

    def add(self, row: Row, record: Mapping[str, Any]) -> None:
        """Write a row and its record, without keys; both are the kernel's when this returns.

        Raises UserError where a file cannot be written (disk full).
        """
        plain = canonical_json(to_plain(row))
        if (clean := without_keys(plain)) != plain:
            row = from_plain(bounded(clean))
        text = canonical_json({"key": list(row.key), "error": row.error, **record})
        line = without_keys(text).encode() + b"\n"
        self._put(line)
        end = self._answers.tell()
        self._journal.append(
            "case.finished", {"row": to_plain(row), ENDS: end, RECORD: digest_bytes(line)}
        )
        self.n_rows += 1
        if self._rows is not None:
            self._rows.append(row)
        self._retried.discard(row.key)
        # No segment ends with a case taken back: what is closed says of each how it ended.
        if max(end, self._journal.size) >= SEGMENT_BYTES and not self._retried:
            self._close_segment()

    def _close_segment(self) -> None:
        """Put what stands in journal and answers into a segment, and begin both anew."""
        number = self._closed + 1
        try:
            files = close_segment(self.path / ANSWERS, number)
            rows = segment(self.path / ROWS, number)
            write_parquet(rows_told(self.path, opened=True), rows)
            files |= settled(rows)
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror}") from error
        self._journal.close_segment(number, files)
        # A process killed before the next line: no event counts what still stands in the answers.
        self._answers.truncate(0)
        self._answers.seek(0)
        self._closed = number

    def _put(self, line: bytes) -> None:
        left = memoryview(line)
        try:
            while left:
                left = left[self._answers.write(left) :]
        except OSError as error:
            raise UserError(f"cannot write {self.path / ANSWERS}: {error.strerror}") from error

    def write_event(self, type_: str, payload: Mapping[str, Any]) -> None:
        """Write an event that is not a row."""
        self._journal.append(type_, dict(payload))

    def protocol_events(self) -> Iterator[JournalEvent]:
        """The protocol's own events, of those written until now."""
        return protocol_events(self.path, self._journal.n_events)

    def write_report(self, protocol: str, content: Mapping[str, Any]) -> None:
        """Write what the protocol says of the whole run, in one step (see `read_report`)."""
        write_json(self.path / f"{protocol}.json", content)

    def finish(self, summary: Mapping[str, Any]) -> str:
        """Write rows and summary, seal the directory, and return the head hash.

        Raises UserError where a file cannot be written (disk full).
        """
        self._answers.close()
        try:
            write_parquet(self.rows, self.path / ROWS)
            write_json(self.path / SUMMARY, summary)
            event = seal(self._journal, {"rows": self.n_rows}, exclude=unsealed())
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror or error}") from error
        self._journal.close()
        return event.hash

    def close(self) -> None:
        """Let go of the files; the run can be resumed."""
        self._answers.close()
        self._journal.close()


def _growing(path: Path) -> tuple[Path, ...]:
    """The files that closed segments are named after."""
    return path / JOURNAL, path / ANSWERS, path / ROWS, path / STATE


def strangers(path: Path, started: Mapping[str, Any]) -> Iterator[str]:
    """What a run's directory has that no run of its protocol writes."""
    own = f"{started['config']['protocol']['plugin']}.json"
    known = (
        CONFIG,
        MANIFEST,
        ANSWERS,
        JOURNAL,
        f"{JOURNAL}.torn-*",
        ROWS,
        SUMMARY,
        own,
        ".*.draft",
        *names(_growing(path), n_closed(path / JOURNAL) + 1),
        f"{SEGMENTS}/.*.draft",
    )
    for name, file in files_below(path):
        if name in unsealed() or name in started.get(WRITTEN, ()):
            continue
        if file.is_symlink():
            yield f"{name}: a link"
        elif not any(fnmatchcase(name, pattern) for pattern in known):
            yield f"{name}: extra"


def check_new(path: Path) -> None:
    """Raise UserError unless a directory can be made at `path`: asked before anything runs."""
    if path.is_symlink() or path.exists():
        if (path / JOURNAL).is_file() or (path / SWEEP_PLAN).is_file():
            raise UserError(f"{path} exists already; resume it with resume={path}")
        raise UserError(f"{path} exists already and holds no run; choose another directory")
    above = next(p for p in path.absolute().parents if p.exists())
    if not above.is_dir():
        raise UserError(f"cannot write {path}: {above} is not a directory")
    if not os.access(above, os.W_OK | os.X_OK):
        raise UserError(f"cannot write {path}: no permission to write in {above}")


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A hidden directory beside `path`, which becomes `path` in one step when the block ends.

    Whatever a killed process left half made under this name is removed. Of two processes at once
    the first to end the block has the directory. Raises UserError where `path` exists, also where
    it came to be inside the block, or can't be written; nothing is left then.
    """
    check_new(path)
    draft: Path | None = None
    held: int | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.draft"):
            _remove_left(left)
        while held is None:
            draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
            draft.mkdir()
            held = _held(draft)
        assert draft is not None
        yield draft
        draft.rename(path)
    except OSError as error:
        check_new(path)
        raise UserError(f"cannot write {path}: {error.strerror}") from None
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
        if held is not None:
            os.close(held)


def _held(draft: Path) -> int | None:
    """The open, locked directory; None where another process took it for one that was left."""
    try:
        held = os.open(draft, os.O_RDONLY)
    except FileNotFoundError:
        return None
    fcntl.flock(held, fcntl.LOCK_EX)
    if draft.exists():
        return held
    os.close(held)
    return None


def _remove_left(draft: Path) -> None:
    """Remove a draft that nobody holds. Who wants it meanwhile waits, and finds it gone."""
    try:
        held = os.open(draft, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(draft, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(held)


def _is_locked(path: Path) -> bool:
    """Whether another process holds a file or directory."""
    place = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(place)
    return False


def _yaml(config: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True))
