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
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import yaml

from framework.errors import DataError, UserError
from framework.records import FIRST_VERSION, Row
from framework.registry import plugins
from framework.rows import PackedRows, chosen, depth_named, from_plain, to_plain
from framework.store import (
    JOURNAL,
    MANIFEST,
    Clock,
    Journal,
    JournalEvent,
    read,
    seal,
    stamp_head,
    utc_now,
)
from framework.store.atomic import as_json, write_json
from framework.store.checkpoints import close_checkpoint, told
from framework.store.former import read_json, renamed
from framework.store.parquet import write_parquet
from framework.store.seal import ANSWERS as ANSWERS
from framework.store.seal import ENDS, RECORD, WRITTEN, digest_of, edited
from framework.store.segments import (
    CONTINUED,
    SEGMENT_BYTES,
    SEGMENTS,
    close_segment,
    n_closed,
    names,
    remove_others,
)
from framework.text.canonical import canonical_json, digest_bytes, files_below
from framework.text.keys import without_keys
from framework.text.reading import read_json as bounded

CONFIG: Final = "config.yaml"
ROWS: Final = "rows.parquet"
SUMMARY: Final = "summary.json"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the journal of a run tells: a pure fold of its events.

    started, finished : what the journal begins and ends with; finished is None before its end.
    began, head : the time of its first event, the hash of its last. retry : the run ended because
    too many cases failed, and these are run again when it goes on.
    """

    path: Path
    started: Mapping[str, Any]
    began: str = ""
    head: str = ""
    rows: Sequence[Row] = ()
    answers_end: int = 0
    retry: bool = False
    finished: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A finished run, read once from its directory (`read_run`) and handed on."""

    state: State
    summary: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """Its directory."""
        return self.state.path

    @property
    def rows(self) -> Sequence[Row]:
        """Its rows, those with an error among them."""
        return self.state.rows

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The content of manifest.json. Raises DataError where it is damaged."""
        try:
            found: dict[str, Any] = bounded((self.path / MANIFEST).read_bytes())
        except (OSError, ValueError) as error:
            raise DataError(self.path / MANIFEST, None, f"not JSON: {error}") from None
        return found


class RunDirectory:
    """One run on disk, open for writing."""

    def __init__(self, path: Path, journal: Journal, state: State) -> None:
        self.path = path
        self._journal = journal
        self._answers = (path / ANSWERS).open("r+b", buffering=0)
        self._answers.truncate(state.answers_end)
        self._answers.seek(state.answers_end)
        self._rows = PackedRows(state.rows)
        self._closed = n_closed(path / JOURNAL)

    @property
    def rows(self) -> Sequence[Row]:
        """Every row so far."""
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
        cls, path: Path, changed: Sequence[str] = (), known: State | None = None
    ) -> RunDirectory:
        """Resume a run that was cut off; `changed` is recorded beside the number of rows.

        known : its state, which is read again only where the journal has another end by now.
        Where too many cases had failed, the failed ones are taken back, to be run again: whatever
        made them fail may have passed. Their first records stay in journal and answers.

        Raises UserError when there is no run, it is finished, another process writes it, or a file
        is not what the journal says that was written.
        """
        journal = Journal.open(path / JOURNAL)
        # Only now, as nobody else can write it any more.
        state = known if known and known.head == journal.head_hash else load_state(path)
        if problem := next(
            chain(edited(path, closed=False), _strangers(path, state.started)), None
        ):
            journal.close()
            raise UserError(f"{path}: {problem}")
        retried = {row.key: row for row in state.rows if row.error} if state.retry else {}
        again = {"retried": [list(key) for key in retried]} if retried else {}
        rows = chosen(state.rows, lambda row: row.key not in retried) if retried else state.rows
        remove_others(path / JOURNAL, (path / ANSWERS,), n_closed(path / JOURNAL))
        journal.append("run.resumed", {"rows": len(rows), "changed": list(changed), **again})
        return cls(path, journal, replace(state, rows=rows))

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
        self._rows.append(row)
        if max(end, self._journal.size) >= SEGMENT_BYTES:
            self._close_segment()

    def _close_segment(self) -> None:
        """Put what stands in journal and answers into a segment, and begin both anew."""
        number = self._closed + 1
        try:
            files = close_segment(self.path / ANSWERS, number)
            files |= close_checkpoint(self.path / JOURNAL, number)
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
            write_parquet(self._rows, self.path / ROWS)
            write_json(self.path / SUMMARY, summary)
            event = seal(self._journal, {"rows": len(self._rows)}, exclude=unsealed())
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror or error}") from error
        self._journal.close()
        return event.hash

    def close(self) -> None:
        """Let go of the files; the run can be resumed."""
        self._answers.close()
        self._journal.close()


def _strangers(path: Path, started: Mapping[str, Any]) -> Iterator[str]:
    """What an unfinished run has that no run of its protocol writes: it would be sealed as true."""
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
        *names(path / JOURNAL, (path / ANSWERS,), n_closed(path / JOURNAL) + 1),
        f"{SEGMENTS}/.*.draft",
    )
    for name, file in files_below(path):
        if name in unsealed() or name in started.get(WRITTEN, ()):
            continue
        if file.is_symlink():
            yield f"{name}: a link"
        elif not any(fnmatchcase(name, pattern) for pattern in known):
            yield f"{name}: extra"


def protocol_events(path: Path, first: int | None = None) -> Iterator[JournalEvent]:
    """The events that are a protocol's own, neither rows nor the engine's, of the `first` so many.

    They are read as they are asked for.
    """
    others = ("run.", "journal.", "case.finished")
    return (
        replace(e, payload=renamed(e.payload))
        for e in islice(read(path / JOURNAL), first)
        if not e.type.startswith(others)
    )


def read_report(path: Path, protocol: str) -> dict[str, Any] | None:
    """What a protocol says of a whole run, as a directory holds it; None where it says nothing."""
    try:
        found: dict[str, Any] = read_json((path / f"{protocol}.json").read_bytes())
    except FileNotFoundError:
        return None
    return found


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
            if not _is_locked(left):
                shutil.rmtree(left, ignore_errors=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
        draft.mkdir()
        held = os.open(draft, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
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


def load_state(path: Path) -> State:
    """The state of a run, folded from its journal. Raises UserError where there is none."""
    first = first_event(path)
    rows = PackedRows()
    answers_end = 0
    finished: Mapping[str, Any] | None = None
    retry = False
    for event in told(path / JOURNAL):
        if event.type == "case.finished":
            rows.append(from_plain(event.payload["row"]))
            answers_end = event.payload.get(ENDS, 0)  # of a checkpoint none: its answers are closed
        elif event.type == CONTINUED:
            answers_end = 0
        elif event.type == "run.stopped":
            retry = bool(event.payload.get("retry"))
        elif event.type == "run.resumed":
            retry = False
            again = {tuple(key) for key in event.payload.get("retried", ())}
            rows = PackedRows(row for row in rows if row.key not in again)
        elif event.type == "run.finished":
            finished = {**event.payload, "hash": event.hash}
    return State(
        path=path,
        started=first.payload,
        began=first.time,
        head=event.hash,
        rows=rows,
        answers_end=answers_end,
        retry=retry,
        finished=finished,
    )


def first_event(path: Path) -> JournalEvent:
    """What a run was begun with; of its journal nothing else is read. Raises UserError for none."""
    if not (path / JOURNAL).is_file():
        raise UserError(f"{path} is not a run directory: it has no {JOURNAL}")
    first = next(iter(read(path / JOURNAL)), None)
    if first is None or first.type != "run.started":
        raise UserError(f"{path}: its journal does not begin with run.started")
    return first


def load_finished(path: Path) -> State:
    """The state of a finished run. Raises UserError where there is none, or it is not finished."""
    state = load_state(path)
    if state.finished is None:
        raise UserError(f"{path} is not finished; resume it with resume={path}")
    return state


def read_run(path: Path, state: State | None = None) -> FinishedRun:
    """A finished run; `state` is that of its journal, where it was read already.

    Raises UserError where there is none.
    """
    summary = read_summary(path)
    return FinishedRun(state=state or load_state(path), summary=summary)


_MEASURED_ON: Final = ("digest", "nominal_tokens")
"""What of the record of a run's data its figures hang on, but for the domain's version."""


def data_differ(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> str:
    """In what two runs' records of their data differ; empty where in nothing.

    A run of before domains had versions is of the first.
    """
    versions = [(data or {}).get("version", FIRST_VERSION) for data in (one, other)]
    if versions[0] != versions[1]:
        return f"domain version ({versions[0]}, {versions[1]})"
    kept = [{key: (data or {}).get(key) for key in _MEASURED_ON} for data in (one, other)]
    return "" if kept[0] == kept[1] else "data"


def repair_head(state: State) -> None:
    """Stamp the head hash of a run that was killed between its last event and the stamp."""
    if state.finished is not None:
        stamp_head(state.path, state.finished["hash"])


def read_summary(path: Path) -> dict[str, Any]:
    """summary.json of a finished run. Raises UserError when there is none."""
    try:
        loaded: dict[str, Any] = read_json((path / SUMMARY).read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path} has no {SUMMARY}: not a finished run") from None
    except ValueError as error:
        raise DataError(path / SUMMARY, None, f"not JSON: {error}") from None
    if "depths" not in loaded:  # an old run: its strata say it by their names
        named = {name: depth_named(name) for name in loaded.get("strata", ())}
        loaded["depths"] = {name: depth for name, depth in named.items() if depth is not None}
    return loaded


def _yaml(config: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True))
