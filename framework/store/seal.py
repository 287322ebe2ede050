"""Tying the files of a run directory to its journal, and checking a run directory as a whole.

`run.finished` holds the digest of every file in the directory. The journal itself is left out (its
chain protects it), and `manifest.json` counts by its content without `head_hash`, which is the hash
of that very event and is stamped on afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError
from framework.records import RowKey
from framework.rows import KEY
from framework.store.atomic import as_json, write_json
from framework.store.chain import Verdict, read, read_open, verify_to_last
from framework.store.event import FINISHED, JournalEvent
from framework.store.journal import Journal
from framework.store.parquet import outcomes_in
from framework.store.segments import (
    CONTINUED,
    ROWS,
    STATE,
    closed_bytes,
    closed_files,
    has_rows,
    joined,
    n_closed,
    name_of,
    segment,
)
from framework.text.canonical import digest, digest_bytes, digest_entry, files_below
from framework.text.reading import read_json

JOURNAL: Final = "journal.jsonl"
MANIFEST: Final = "manifest.json"
HEAD_HASH: Final = "head_hash"
"""Key of the manifest under which the hash of the journal's last event stands."""
ANSWERS: Final = "answers.jsonl"
WRITTEN: Final = "written"
"""Key of a run's first event: the digests of the files that it was begun with."""
ENDS: Final = "answers_end"
"""Key of a case's event: where `answers.jsonl` ended with the case's record."""
RECORD: Final = "record"
"""Key of a case's event: the digest of the case's line in `answers.jsonl`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """How a run directory differs from what was sealed: names relative to it, sorted."""

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not (self.changed or self.missing or self.extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdict:
    """What `verify_run` found; `problems` has one line each and is empty for a sound run.

    `files` is None where the journal has no end to check them against.
    """

    journal: Verdict
    files: FileChanges | None
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether journal, files and manifest are all sound."""
        return not self.problems


def seal(
    journal: Journal,
    payload: dict[str, object] | None = None,
    *,
    exclude: Iterable[str] = (),
) -> JournalEvent:
    """Finish the run: write `run.finished` with all digests, then the head hash into the manifest.

    Call it when every other file of the directory is complete. `payload` is added to the event.
    `exclude` lists glob patterns of names left out (a log that still grows); ``*`` crosses ``/``;
    they are recorded in the event. Where there is no manifest, none is made.

    Raises ValueError as `Journal.append` and for a special file, DataError for a manifest that is
    not a JSON object.
    """
    payload = payload or {}
    if taken := {"files", "excluded"} & payload.keys():
        raise ValueError(f"{sorted(taken)} are filled in by the seal")
    run_dir = journal.path.parent
    excluded = sorted({journal.path.name, *exclude})
    files = {name: digest_of(name, path) for name, path in _files(run_dir, excluded)}
    for name, written in closed_files(journal.path).items():
        if files.get(name) != written:
            raise DataError(run_dir / name, None, "not the segment that was closed")
    event = journal.finish({**payload, "files": files, "excluded": excluded})
    if MANIFEST in files:
        stamp_head(run_dir, event.hash)
    return event


def stamp_head(run_dir: str | Path, head_hash: str) -> None:
    """Write the head hash into the manifest of `run_dir`, in one step; again changes nothing.

    For a run killed between its last event and the stamp. Raises DataError for a manifest that is
    not a JSON object.
    """
    path = Path(run_dir) / MANIFEST
    manifest = _load_manifest(path)
    if manifest.get(HEAD_HASH) == head_hash:
        return
    manifest[HEAD_HASH] = head_hash
    write_json(path, manifest)


def verify_files(run_dir: str | Path, event: JournalEvent) -> FileChanges:
    """Compare the files of `run_dir` with the digests in its `run.finished` event.

    Raises ValueError for an event of another type.
    """
    if event.type != FINISHED:
        raise ValueError(f"{event.type} holds no digests; {FINISHED} does")
    sealed: dict[str, str] = event.payload.get("files", {})
    present = dict(_files(Path(run_dir), event.payload.get("excluded", [])))
    return FileChanges(
        changed=tuple(
            name
            for name in sorted(sealed.keys() & present.keys())
            if not _matches(name, present[name], sealed[name])
        ),
        missing=tuple(sorted(sealed.keys() - present.keys())),
        extra=tuple(sorted(present.keys() - sealed.keys())),
    )


def verify_run(run_dir: str | Path, head: str | None = None) -> RunVerdict:
    """Check a run directory: the chain of its journal, every file, and the manifest's head hash.

    The manifest's own head hash must be the journal's; `head`, kept elsewhere, also tells when both
    were rewritten. Raises UserError where there is no journal.
    """
    run_dir = Path(run_dir)
    verdict, last = verify_to_last(run_dir / JOURNAL, head)
    problems = list(edited(run_dir)) if verdict.intact and not verdict.finished else []
    if verdict.problem is not None:
        where = JOURNAL if verdict.at_line is None else f"{JOURNAL}:{verdict.at_line}"
        problems.append(f"{where}: {verdict.problem}")
    files = None
    if verdict.finished and last is not None:
        files = verify_files(run_dir, last)
        for word in ("changed", "missing", "extra"):
            problems += [f"{name}: {word}" for name in getattr(files, word)]
        if files.ok and verdict.intact:  # a seal that was made anew over what was edited
            problems += edited(run_dir)
        sealed = MANIFEST in last.payload.get("files", {})
        if sealed and MANIFEST not in files.missing + files.changed:
            manifest = _load_manifest(run_dir / MANIFEST)
            stamped = manifest.get(HEAD_HASH)
            if stamped is None:
                problems.append(f"{MANIFEST}: no {HEAD_HASH}")
            elif stamped != verdict.head_hash:
                problems.append(f"{MANIFEST}: {HEAD_HASH} is not that of {JOURNAL}")
            elif (run_dir / MANIFEST).read_text(encoding="utf-8") != as_json(manifest):
                problems.append(f"{MANIFEST}: not the text that was written")
    return RunVerdict(journal=verdict, files=files, problems=tuple(problems))


def sweep_head(heads: Mapping[str, str], plan: str | None) -> str:
    """The head of a sweep: of its runs' names, the last hash of each journal, and its plan.

    plan : its digest; None for the head as it was printed before it covered the plan.
    """
    return digest(dict(heads) if plan is None else {"plan": plan, "runs": dict(heads)})


def edited(run_dir: Path, *, closed: bool = True) -> Iterator[str]:
    """What of a run is not what the events of its journal say that was written, a line each.

    closed : read closed segments too. Else of those only that they are there, with as many bytes as
    they had; whoever finishes the run holds them against their digests (`seal`).

    Runs of before their events told it say nothing. Raises UserError where there is no journal.
    """
    journal = run_dir / JOURNAL
    number = n_closed(journal)
    closed = closed or not has_rows(journal, number)
    answers, end, line, n = None, 0, 0, 0
    told: dict[RowKey, str] = {}
    try:
        for event in read(journal) if closed else _opened(journal):
            for name, written in (event.payload.get(WRITTEN) or {}).items():
                if not _matches(name, run_dir / name, written):
                    yield f"{name}: changed since the run began"
            if event.type == CONTINUED:
                n, end = n + 1 if closed else number, 0
                if closed:
                    yield from _not_as_closed(run_dir, n, event.payload, told)
                    told = {}
                elif event.payload["bytes"] != closed_bytes(journal, number):
                    for name, written in closed_files(journal).items():
                        if not _matches(name, run_dir / name, written):
                            yield f"{name}: not the segment that was closed"
                    yield f"{JOURNAL}: the closed segments have other sizes than it says"
                    return
            if closed and number:
                for key in event.payload.get("retried", ()):
                    told.pop(tuple(key), None)
            if event.type != "case.finished" or ENDS not in event.payload:
                continue
            if closed and number:
                row = event.payload["row"]
                told[tuple(row[name] for name in KEY)] = row["error"]
            answers = answers or joined(run_dir / ANSWERS, number if closed else 0)
            record = answers.read(event.payload[ENDS] - end)
            end, line = event.payload[ENDS], line + 1
            if event.payload.get(RECORD, found := digest_bytes(record)) != found:
                yield f"{ANSWERS}:{line}: not the record written"
                return
        if n != number:
            yield f"{JOURNAL}: {n} of {number} segments are named"
    except OSError as error:
        yield f"{ANSWERS}: {error.strerror}"
    except (LookupError, TypeError, ValueError, AttributeError):
        # Whoever seals a forged run anew decides what its events hold: it is told, not a traceback.
        yield f"{JOURNAL}: holds an event that no run writes"
    finally:
        if answers is not None:
            answers.close()


def _opened(journal: Path) -> Iterator[JournalEvent]:
    """What a run began with, and the events of its open journal."""
    yield from islice(read(journal), 1)
    yield from read_open(journal)


def _not_as_closed(
    run_dir: Path, n: int, payload: Mapping[str, Any], told: Mapping[RowKey, str]
) -> Iterator[str]:
    """In what the files of segment n differ from what `journal.continued` says, a line each.

    told : what its events tell of rows: the error of each by its key.
    """
    files = payload.get("files")
    due = {name_of(segment(run_dir / name, n)) for name in (JOURNAL, ANSWERS)}
    others = [segment(run_dir / name, n) for name in (ROWS, STATE)]
    named = files if isinstance(files, dict) else {}
    due |= {name_of(place) for place in others if place.exists() or name_of(place) in named}
    if payload.get("segment") != n or not isinstance(files, dict) or files.keys() != due:
        yield f"{JOURNAL}: segment {n} is not as a run closes it"
        return
    for name, written in files.items():
        if not _matches(name, run_dir / name, written):
            yield f"{name}: not the segment that was closed"
        elif name == name_of(others[0]) and dict(outcomes_in(run_dir / name)) != told:
            yield f"{name}: not what its events tell"


def _files(run_dir: Path, excluded: list[str]) -> Iterator[tuple[str, Path]]:
    for name, path in files_below(run_dir):
        if not any(fnmatchcase(name, pattern) for pattern in excluded):
            yield name, path


def digest_of(name: str, path: Path) -> str:
    """The digest of a file of a run, its manifest without `head_hash`."""
    if name != MANIFEST:
        return digest_entry(path)
    manifest = _load_manifest(path)
    manifest.pop(HEAD_HASH, None)
    return digest(manifest)


def _matches(name: str, path: Path, sealed: str) -> bool:
    try:
        return digest_of(name, path) == sealed
    except (OSError, ValueError, DataError):  # no longer a file, or no longer a manifest
        return False


def _load_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = read_json(path.read_bytes())
    except ValueError as error:
        raise DataError(path, None, f"not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise DataError(path, None, "not a JSON object")
    return manifest
