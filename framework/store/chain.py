r"""Reading a journal along its chain: every event is checked before it is handed out.

Memory is that of one line, whatever the length of the journal. Lines end at ``\\n`` bytes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from framework.errors import DataError, UserError
from framework.store.event import FINISHED, GENESIS, JournalEvent, LineError, decode
from framework.store.segments import follows, joined
from framework.text.counting import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What `verify` found.

    `ok` is True for a whole journal: intact, finished, and ending at the head that was asked for;
    otherwise `problem` says in one line what is wrong and `at_line` (from 1) where, if somewhere.
    `intact` is True as long as no line is damaged: a run that was killed is intact, not ok, and can
    be resumed. `n_events` and `head_hash` are those of the events before the problem.
    """

    ok: bool
    intact: bool
    finished: bool
    n_events: int
    head_hash: str
    problem: str | None = None
    at_line: int | None = None


class Chain:
    """The events of an open journal, once, in order; and how far the journal is sound.

    Iterating stops before a torn last line, which is not an event: one without a line end, or one
    that is not JSON. It raises DataError at any other line that is not the next event. The other
    attributes are true of the events handed out so far; `torn` is set at the end.

    Attributes:
        n_events: number of events, those before the file's first among them.
        head: hash of the last event, `GENESIS` before the first.
        end: offset in bytes, within the file, of the end of the last event.
        last: the last event, None before the first.
        torn: bytes of the torn last line.
    """

    def __init__(self, file: BinaryIO, name: str, n_events: int = 0, head: str = GENESIS) -> None:
        self.n_events = n_events
        self.head = head
        self.end = 0
        self.last: JournalEvent | None = None
        self.torn = b""
        self._file = file
        self._name = name

    @property
    def finished(self) -> bool:
        """Whether the last event is `run.finished`."""
        return self.last is not None and self.last.type == FINISHED

    def __iter__(self) -> Iterator[JournalEvent]:
        for line in self._file:
            try:
                if self.finished:
                    raise LineError("stands after the end of the run")
                if not line.endswith(b"\n"):
                    raise LineError("no line end", parsed=False)
                event = decode(line, seq=self.n_events, prev_hash=self.head)
                if event.type == FINISHED and event.payload.get("n_events") != event.seq + 1:
                    raise LineError(f"rewritten: not its {event.payload.get('n_events')} events")
            except LineError as error:
                if not error.parsed and not self._file.read(1):
                    self.torn = line
                    return
                raise DataError(self._name, self.n_events + 1, str(error)) from error
            self.n_events += 1
            self.head = event.hash
            self.end += len(line)
            self.last = event
            yield event


def read(path: str | Path) -> Iterator[JournalEvent]:
    """Yield the events of a journal in order, each checked, one line in memory at a time.

    May be used while another process writes: a last line not yet complete is left out. Raises
    UserError where there is no journal, DataError (file, line) at a damaged line.
    """
    with open_for_reading(Path(path)) as file:
        yield from Chain(file, str(path))


def read_open(path: Path) -> Iterator[JournalEvent]:
    """Yield the events that stand in the open journal: those after its closed segments.

    Raises OSError where there is none, DataError (file, line) at a damaged line.
    """
    with path.open("rb") as file:
        yield from open_chain(file, path)


def open_chain(file: BinaryIO, path: Path) -> Chain:
    """The chain of an open journal, from where its closed segments end."""
    _, n_events, head = follows(file.readline()) or (0, 0, GENESIS)
    file.seek(0)
    return Chain(file, str(path), n_events, head)


def verify(path: str | Path, head: str | None = None) -> Verdict:
    """Check every line of a journal, its end and, where `head` is given, that it ends there.

    Finds any line edited, moved, doubled or dropped inside the journal. Lines dropped from the end
    take `run.finished` with them: "unfinished after n events". A chain rewritten from some line on
    is consistent in itself: only `head`, the hash of the last event kept elsewhere (with or without
    its ``sha256:``), tells. Raises UserError where there is no journal.
    """
    return verify_to_last(Path(path), head)[0]


def verify_to_last(path: Path, head: str | None) -> tuple[Verdict, JournalEvent | None]:
    """Return what `verify` does, and the last sound event."""
    with open_for_reading(path) as file:
        chain = Chain(file, str(path))
        damage: DataError | None = None
        try:
            for _ in chain:
                pass
        except DataError as error:
            damage = error
    wrong_head = head is not None and head.removeprefix("sha256:") != chain.head[len("sha256:") :]
    problem: str | None = None
    at_line = None
    if damage is not None:
        problem, at_line = damage.problem, damage.line
    elif not chain.finished:
        problem = f"unfinished after {counted(chain.n_events, 'event')}"
        if chain.torn:
            problem += f", then {len(chain.torn)} bytes of a torn line"
            at_line = chain.n_events + 1
    if damage is None and wrong_head:
        ends = f"ends at {chain.head}, not at the head asked for: "
        problem = ends + (problem or "rewritten, or of another run")
    verdict = Verdict(
        ok=problem is None,
        intact=damage is None and not wrong_head,
        finished=damage is None and chain.finished,
        n_events=chain.n_events,
        head_hash=chain.head,
        problem=problem,
        at_line=at_line,
    )
    return verdict, chain.last


def open_for_reading(path: Path) -> BinaryIO:
    """Open a journal from its first event on, which may stand in a closed segment.

    Raises UserError where there is none or it cannot be read, or where a device or pipe has the
    name of a file, of which nobody could read the end.
    """
    try:
        for entry in path.parent.glob("*.*"):
            if not (entry.is_file() or entry.is_dir()) and entry.exists():
                raise UserError(f"{entry}: neither a file nor a directory")
        return joined(path)
    except OSError as error:
        raise UserError(f"cannot read the journal {path}: {error.strerror}") from error
