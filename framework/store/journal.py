"""Writing a journal: one process at a time, one event a line, each in the kernel when it returns.

`append` hands the whole line to the kernel before it returns. That survives the death of the
process by any signal, ``kill -9`` included; only ``fsync=True`` survives the death of the machine
too, at the price of a disk write an event.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import NamedTuple, Self

from framework.errors import UserError
from framework.store.atomic import replacing, sync_directory
from framework.store.chain import open_chain
from framework.store.event import FINISHED, GENESIS, RECOVERED, JournalEvent, encode
from framework.store.segments import CONTINUED, close_segment, closed_bytes
from framework.text.canonical import canonical_bytes

Clock = Callable[[], datetime]
"""Gives the time of an event; must be timezone-aware."""


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


class _State(NamedTuple):
    """Where the journal ends. One value, so that an interrupt cannot leave half of a new one."""

    n_events: int
    head: str
    end: int
    finished: bool


_START = _State(0, GENESIS, 0, False)


class Journal:
    """A journal open for appending, held by a lock that ends with the process or with `close`.

    Make one with `Journal.create` or `Journal.open`. Appending costs the same at any length.
    Threads may share it; a forked child may not, its copy is closed.
    """

    def __init__(self, path: Path, file: FileIO, state: _State, clock: Clock, fsync: bool) -> None:
        self.path = path
        self._file = file
        self._state = state
        self._clock = clock
        self._fsync = fsync
        self._clean = True  # the file ends at state.end
        self._lock = threading.Lock()
        _OPEN.add(self)

    @classmethod
    def create(cls, path: str | Path, *, clock: Clock = utc_now, fsync: bool = False) -> Self:
        """Start a journal in a new file.

        Raises UserError where the file exists already or cannot be made.
        """
        path = Path(path)
        try:
            file = FileIO(path, "x+")
        except FileExistsError as error:
            raise UserError(f"there is a journal already: {path}") from error
        except OSError as error:
            raise UserError(f"cannot create the journal {path}: {error.strerror}") from error
        with ExitStack() as on_error:
            on_error.callback(file.close)
            _hold(file, path)
            if fsync:
                sync_directory(path.parent)
            on_error.pop_all()
        return cls(path, file, _START, clock, fsync)

    @classmethod
    def open(cls, path: str | Path, *, clock: Clock = utc_now, fsync: bool = False) -> Self:
        """Continue a journal after its writer ended or was killed, having checked every line.

        A torn last line is cut off, kept in ``<name>.torn-<n>`` beside the journal, and recorded by
        a `journal.recovered` event. Raises UserError where there is no journal, another process
        holds it or its run is finished, and DataError (file, line) for any other damage.
        """
        path = Path(path)
        try:
            file = FileIO(path, "r+")
        except OSError as error:
            raise UserError(f"cannot open the journal {path}: {error.strerror}") from error
        with ExitStack() as on_error:
            on_error.callback(file.close)
            _hold(file, path)
            if os.fstat(file.fileno()).st_ino != path.stat().st_ino:  # begun anew by its writer
                raise UserError(f"another process is writing the journal {path}")
            with open(file.fileno(), "rb", closefd=False) as content:
                chain = open_chain(content, path)
                for _ in chain:
                    pass
            if chain.finished:
                raise UserError(f"the run of {path} is finished: nothing can be added to it")
            state = _State(chain.n_events, chain.head, chain.end, False)
            journal = cls(path, file, state, clock, fsync)
            if chain.torn:
                journal._set_aside(chain.torn)
            on_error.pop_all()
        return journal

    @property
    def n_events(self) -> int:
        """Number of events written."""
        return self._state.n_events

    @property
    def size(self) -> int:
        """Bytes of the file, closed segments left out."""
        return self._state.end

    @property
    def head_hash(self) -> str:
        """Hash of the last event, `GENESIS` before the first."""
        return self._state.head

    @property
    def finished(self) -> bool:
        """Whether `run.finished` was written."""
        return self._state.finished

    def append(self, type: str, payload: object, *, actor: str = "framework") -> JournalEvent:
        """Write one event and return it as it will be read back.

        `type` is dotted lower-case words (`case.done`), `payload` a mapping or dataclass with a
        canonical form, `actor` who did it. When an exception leaves `append`, the event counts as
        not written, whatever reached the file: the next call cuts that off.

        Raises ValueError for a bad type, actor or payload (CanonicalError), for `run.finished`,
        which `finish` writes, and for a journal that is closed or finished; UserError where the
        file cannot be written (disk full).
        """
        if type == FINISHED:
            raise ValueError(f"{FINISHED} is written by finish(), which counts the events")
        content = canonical_bytes(payload)
        with self._lock:
            return self._write(type, content, actor)

    def finish(self, payload: dict[str, object]) -> JournalEvent:
        """Write `run.finished`, the last event: `payload` and `n_events`. Raises as `append`."""
        if "n_events" in payload:
            raise ValueError("n_events is counted by the journal")
        with self._lock:
            content = canonical_bytes({**payload, "n_events": self._state.n_events + 1})
            return self._write(FINISHED, content, "framework")

    def close_segment(self, number: int, files: dict[str, str]) -> None:
        """Put all that stands in the file into its segment of this number, and begin it anew.

        files : other files that are closed with it, with their digests. A process killed in here
        leaves the journal as it was or begun anew, in one step. Raises as `append`.
        """
        with self._lock:
            self._check_open()
            self._cut_unfinished()
            try:
                files = {**files, **close_segment(self.path, number)}
                size = closed_bytes(self.path, number)
                content = canonical_bytes({"segment": number, "files": files, "bytes": size})
                _, line, state = self._next(CONTINUED, content, "journal", 0)
                with ExitStack() as on_error:
                    with replacing(self.path) as draft:
                        file = FileIO(draft, "x+")
                        on_error.callback(file.close)
                        _hold(file, draft)
                        file.write(line)
                        os.fsync(file.fileno())
                    on_error.pop_all()
                sync_directory(self.path.parent)
            except OSError as error:
                told = f"cannot write the journal {self.path}: {error.strerror}"
                raise UserError(told) from error
            former, self._file = self._file, file
            self._state = state
            former.close()

    def close(self) -> None:
        """Release the file and its lock; again does nothing."""
        with self._lock:
            if not self._file.closed:
                self._cut_unfinished()
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._file.closed:
            raise ValueError(f"the journal {self.path} is closed")
        if self._state.finished:
            raise ValueError(f"the run of {self.path} is finished")

    def _write(self, type: str, payload: bytes, actor: str) -> JournalEvent:
        self._check_open()
        self._cut_unfinished()
        end = self._state.end
        event, line, state = self._next(type, payload, actor, end)
        # From here to the last line, a signal handler may raise between any two steps.
        self._clean = False
        self._put(line, end)
        self._state = state
        self._clean = True
        return event

    def _next(
        self, type: str, payload: bytes, actor: str, at: int
    ) -> tuple[JournalEvent, bytes, _State]:
        """The next event, its line, and where the journal ends with it written at this offset."""
        state = self._state
        time = self._time()
        line, hash_ = encode(
            seq=state.n_events,
            time=time,
            actor=actor,
            type=type,
            payload=payload,
            prev_hash=state.head,
        )
        event = JournalEvent(
            seq=state.n_events,
            time=time,
            actor=actor,
            type=type,
            payload=json.loads(payload),
            prev_hash=state.head,
            hash=hash_,
        )
        return event, line, _State(state.n_events + 1, hash_, at + len(line), type == FINISHED)

    def _put(self, line: bytes, offset: int) -> None:
        try:
            left = memoryview(line)
            while left:
                written = os.pwrite(self._file.fileno(), left, offset)
                left, offset = left[written:], offset + written
            if self._fsync:
                os.fsync(self._file.fileno())
        except OSError as error:
            raise UserError(f"cannot write the journal {self.path}: {error.strerror}") from error

    def _cut_unfinished(self) -> None:
        """Cut off what a failed or interrupted write left."""
        if not self._clean:
            os.ftruncate(self._file.fileno(), self._state.end)
            self._clean = True

    def _time(self) -> str:
        moment = self._clock()
        if moment.tzinfo is None:
            raise ValueError("the journal's clock gave a time without a time zone")
        return moment.astimezone(UTC).isoformat(timespec="microseconds")

    def _set_aside(self, torn: bytes) -> None:
        number = 1
        while True:
            kept = self.path.with_name(f"{self.path.name}.torn-{number}")
            try:
                with kept.open("xb") as file:
                    file.write(torn)
                break
            except FileExistsError:
                number += 1
            except OSError as error:
                raise UserError(f"cannot write {kept}: {error.strerror}") from error
        self._clean = False
        self.append(RECOVERED, {"bytes": len(torn), "kept_as": kept.name}, actor="journal")


def _hold(file: FileIO, path: Path) -> None:
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UserError(f"another process is writing the journal {path}") from error
    except OSError as error:
        raise UserError(f"cannot lock the journal {path}: {error.strerror}") from error


_OPEN: weakref.WeakSet[Journal] = weakref.WeakSet()


def _leave_to_parent() -> None:
    # A child shares its parent's lock: it could write into the chain, and by merely living on after
    # the parent was killed it would keep the journal from being resumed.
    for journal in list(_OPEN):
        journal._file.close()
        journal._lock = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_leave_to_parent)
