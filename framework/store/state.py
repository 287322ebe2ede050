"""What a run directory tells: its state, a fold of its journal, and its results when finished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError, UserError
from framework.records import FIRST_VERSION, Row
from framework.rows import PackedRows, depth_named, from_plain
from framework.store import JOURNAL, MANIFEST, JournalEvent, read, stamp_head
from framework.store.checkpoints import told
from framework.store.former import read_json, renamed
from framework.store.seal import ENDS
from framework.store.segments import CONTINUED
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


def load_state(path: Path) -> State:
    """The state of a run, folded from its journal. Raises UserError where there is none."""
    first = first_event(path)
    rows = PackedRows()
    answers_end = 0
    finished: Mapping[str, Any] | None = None
    retry = False
    try:
        for event in told(path / JOURNAL):
            if event.type == "case.finished":
                rows.append(from_plain(event.payload["row"]))
                answers_end = event.payload.get(
                    ENDS, 0
                )  # of a checkpoint none: its answers are closed
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
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(path / JOURNAL, None, "holds an event that no run writes") from error
    return State(
        path=path,
        started=first.payload,
        began=first.time,
        ended=event.time,
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
