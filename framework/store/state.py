"""What a run directory tells: its state, a fold of its journal, and its results when finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, overload

from framework.errors import DataError, UserError
from framework.records import FIRST_VERSION, Row, RowKey
from framework.rows import PackedRows, depth_named, from_plain
from framework.store import JOURNAL, MANIFEST, JournalEvent, read, stamp_head
from framework.store.chain import read_open
from framework.store.former import read_json, renamed
from framework.store.parquet import outcomes_in
from framework.store.seal import ENDS
from framework.store.segments import CONTINUED, ROWS, has_rows, n_closed, segment
from framework.text.reading import read_json as bounded

SUMMARY: Final = "summary.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the journal of a run tells: a pure fold of its events.

    started, finished : what the journal begins and ends with; finished is None before its end.
    began, ended : the times of its first event and its last. head : the hash of its last. retry :
    the run ended because too many cases failed, and these are run again when it goes on.
    """

    path: Path
    started: Mapping[str, Any]
    began: str = ""
    ended: str = ""
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


class LateRows(Sequence[Row]):
    """The rows of an unfinished run with closed segments: read when one of them is asked for.

    Which there are, and which failed, is told without them (`outcomes`).
    """

    def __init__(
        self, path: Path, number: int, opened: Sequence[Row], retried: Set[RowKey]
    ) -> None:
        self._path = path
        self._number = number
        self._opened = opened
        self._retried = retried

    def outcomes(self) -> dict[RowKey, str]:
        """The error of each row by its key, "" for none. Raises DataError."""
        places = [segment(self._path / ROWS, n) for n in range(1, self._number + 1)]
        found = {key: error for place in places for key, error in outcomes_in(place)}
        found = {key: error for key, error in found.items() if key not in self._retried}
        return found | {row.key: row.error for row in self._opened}

    @cached_property
    def _rows(self) -> PackedRows:
        return rows_told(self._path)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        return self._rows[at]


def load_state(path: Path) -> State:
    """The state of a run, folded from its journal. Raises UserError where there is none.

    Of an unfinished run with closed segments the open journal is read, and all rows when asked for.
    """
    first = first_event(path)
    journal = path / JOURNAL
    if has_rows(journal, n_closed(journal)):
        state = _folded(path, first, read_open(journal), late=True)
        if state.finished is None:
            return state
    return _folded(path, first, read(journal))


def rows_told(path: Path, *, opened: bool = False) -> PackedRows:
    """The rows that a run's journal tells, or what is open of it. Raises as `load_state`."""
    events = read_open(path / JOURNAL) if opened else read(path / JOURNAL)
    rows = _folded(path, first_event(path), events).rows
    assert isinstance(rows, PackedRows)
    return rows


def outcomes_of(state: State) -> dict[RowKey, str]:
    """The error of each row of a run by its key, "" for none. Raises DataError."""
    if isinstance(state.rows, LateRows):
        return state.rows.outcomes()
    return {row.key: row.error for row in state.rows}


def _folded(
    path: Path, first: JournalEvent, events: Iterable[JournalEvent], late: bool = False
) -> State:
    """The state that events tell; `late` where those of closed segments are not among them."""
    rows = PackedRows()
    answers_end = number = 0
    finished: Mapping[str, Any] | None = None
    retry = False
    retried: set[RowKey] = set()
    event = first
    try:
        for event in events:
            if event.type == "case.finished":
                rows.append(from_plain(event.payload["row"]))
                answers_end = event.payload.get(ENDS, 0)
            elif event.type == CONTINUED:
                answers_end, number = 0, event.payload["segment"]
            elif event.type == "run.stopped":
                retry = bool(event.payload.get("retry"))
            elif event.type == "run.resumed":
                retry = False
                again = {tuple(key) for key in event.payload.get("retried", ())}
                retried |= again
                rows = PackedRows(row for row in rows if row.key not in again)
            elif event.type == "run.finished":
                finished = {**event.payload, "hash": event.hash}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(path / JOURNAL, None, "holds an event that no run writes") from error
    return State(
        path=path,
        started=first.payload,
        began=first.time,
        ended=event.time,
        head=event.hash,
        rows=LateRows(path, number, rows, retried) if late else rows,
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


def read_summary(path: Path) -> dict[str, Any]:
    """summary.json of a finished run. Raises UserError when there is none."""
    try:
        loaded: dict[str, Any] = read_json((path / SUMMARY).read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path} has no {SUMMARY}: not a finished run") from None
    except ValueError as error:
        raise DataError(path / SUMMARY, None, f"not JSON: {error}") from None
    if not has_keys(loaded, OF_A_SUMMARY):
        raise DataError(path / SUMMARY, None, "not the summary of a run")
    if "depths" not in loaded:  # an old run: its strata say it by their names
        named = {name: depth_named(name) for name in loaded.get("strata", ())}
        loaded["depths"] = {name: depth for name, depth in named.items() if depth is not None}
    return loaded


def has_keys(found: Any, keys: Sequence[str]) -> bool:
    """Whether what a file holds is a mapping with these keys."""
    return isinstance(found, dict) and all(key in found for key in keys)


OF_A_SUMMARY: Final = ("run", "headline", "axes", "ledger", "budget_use", "errors")
"""What no summary.json is without."""


def read_report(path: Path, protocol: str) -> dict[str, Any] | None:
    """What a protocol says of a whole run, as a directory holds it; None where it says nothing."""
    try:
        found: dict[str, Any] = read_json((path / f"{protocol}.json").read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(path / f"{protocol}.json", None, f"not JSON: {error}") from None
    return found


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
