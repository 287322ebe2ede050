"""MLflow, on a local database or a shared server."""

from __future__ import annotations

import dataclasses
import json
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from framework.contracts import Tracker
from framework.registry import register
from framework.store.directory import HTML
from framework.text.reading import read_json
from plugins.tracking._server import PARENT, Server, check_public, connect, locked, public, resolve

if TYPE_CHECKING:
    from plugins.tracking._content import Upload

FINISHED, FAILED = "FINISHED", "FAILED"
TRACKING: Final = "tracking.json"
"""Which MLflow run a directory went to, so that nothing is made twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MlflowSettings:
    """Where runs go. None of it can change a measured value.

    uri : a server (http, https) or database (sqlite, postgresql, mysql, mssql), without a password;
        None for $MLFLOW_TRACKING_URI, else mlruns/mlflow.db in the current directory.
    experiment : the experiment's name; created if it does not exist.
    """

    uri: str | None = field(default=None, metadata={"operational": True})
    experiment: str = field(default="decisionbench", metadata={"operational": True})

    def __post_init__(self) -> None:
        if self.uri is not None:
            check_public(self.uri)
        if not self.experiment.strip():
            raise ValueError("experiment: empty")


@register("tracking", "mlflow")
class Mlflow(Tracker[MlflowSettings]):
    """Upload parameters, metrics with interval bounds, and artifacts to MLflow.

    A run is found again by the head hash of its journal, a sweep's parent run by a token in
    `tracking.json`, so that an upload that was cut off is finished by the next one.
    """

    def upload_run(self, directory: Path, sweep: Path | None) -> str:
        from plugins.tracking._content import draft_uploads, run_upload

        upload = run_upload(directory)
        drafts = draft_uploads(directory, upload)
        with connect(resolve(self.settings.uri), self.settings.experiment) as server:
            parent = _parent(server, sweep, upload.started) if sweep is not None else None
            with locked(directory):
                run_id = _run(server, directory, (upload, *drafts), parent, sweep)
        return self._told(server, run_id)

    def upload_sweep(self, directory: Path) -> str:
        from plugins.tracking._content import sweep_upload

        upload = sweep_upload(directory)
        with connect(resolve(self.settings.uri), self.settings.experiment) as server:
            run_id = _parent(server, directory, upload.started)
            with locked(directory):
                server.fill(run_id, upload, {})
                server.end(run_id, upload, FINISHED if upload.whole else FAILED)
                _complete(directory)
        return self._told(server, run_id)

    def _told(self, server: Server, run_id: str) -> str:
        return f"{public(server.uri)}: experiment {self.settings.experiment}, run {run_id}"


def _run(
    server: Server,
    directory: Path,
    uploads: Sequence[Upload],
    parent: str | None,
    sweep: Path | None,
) -> str:
    """Make or find the run of a directory, log what may be missing, and end it.

    uploads : that of the run, then those of its drafts, which are there before it ends.
    """
    upload, *drafts = uploads
    known = read_record(directory)
    tags = {} if parent is None else {PARENT: parent}
    if sweep is not None:
        tags["sweep"] = sweep.name
    run = server.find(_id(server, known), "head_hash", upload.tags["head_hash"])
    if run is None:
        run = server.create(upload.name, upload.started, {**upload.tags, **tags})
    elif (
        known is not None
        and known.complete
        and known.run_id == run.info.run_id
        and run.info.status == FINISHED
        and run.data.tags.get(PARENT) == parent
        and not _reported_since(directory)
    ):
        return known.run_id
    run_id = str(run.info.run_id)
    write_record(directory, _record(server, run_id))
    server.fill(run_id, upload, tags)
    _candidates(server, run_id, drafts)
    server.end(run_id, upload, FINISHED)
    _complete(directory)
    return run_id


def _reported_since(directory: Path) -> bool:
    """Whether the report was written, or written again, since the upload."""
    report, upload = directory / HTML, directory / TRACKING
    return report.is_file() and report.stat().st_mtime > upload.stat().st_mtime


def _candidates(server: Server, run_id: str, uploads: Sequence[Upload]) -> None:
    """Make or find the child run of each draft of a loop, and fill it."""
    from plugins.tracking._content import CANDIDATE

    for upload in uploads:
        tags = {PARENT: run_id}
        run = server.find("", CANDIDATE, upload.tags[CANDIDATE])
        if run is None:
            run = server.create(upload.name, upload.started, {**upload.tags, **tags})
        if run.info.status != FINISHED:
            child = str(run.info.run_id)
            server.fill(child, upload, tags)
            server.end(child, upload, FINISHED)


def _parent(server: Server, sweep: Path, started: int) -> str:
    """The id of a sweep's parent run, made by whichever child comes first."""
    with locked(sweep):
        known = read_record(sweep)
        if known is None or known.uri != public(server.uri) or not known.token:
            known = dataclasses.replace(_record(server, ""), token=uuid.uuid4().hex)
            write_record(sweep, known)
        run = server.find(_id(server, known), "sweep_token", known.token)
        if run is None:
            tags = {"sweep_token": known.token, "directory": sweep.name}
            run = server.create(sweep.name, started, tags)
        run_id = str(run.info.run_id)
        if run_id != known.run_id:
            write_record(sweep, dataclasses.replace(_record(server, run_id), token=known.token))
        return run_id


def _record(server: Server, run_id: str) -> Record:
    return Record(uri=public(server.uri), experiment_id=server.experiment_id, run_id=run_id)


def _complete(directory: Path) -> None:
    known = read_record(directory)
    if known is not None:
        write_record(directory, dataclasses.replace(known, complete=True))


def _id(server: Server, known: Record | None) -> str:
    """The run that a record names in this store."""
    return known.run_id if known is not None and known.uri == public(server.uri) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Where a directory was uploaded to. `complete` is False while anything may be missing there.

    uri : the store, without credentials.
    token : marks a sweep's parent run, and is written before the run is made: when the process dies
        in between, the next one finds the run by it. A run directory has its head hash for that.
    """

    uri: str
    experiment_id: str = ""
    run_id: str = ""
    token: str = ""
    complete: bool = False


def read_record(directory: Path) -> Record | None:
    """The record of a directory; None when there is none that can be read."""
    try:
        return Record(**read_json((directory / TRACKING).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_record(directory: Path, record: Record) -> None:
    """Write the record in one step, its draft outside: a sealed directory gets no other file."""
    draft = directory.with_name(f".{directory.name}.{os.getpid()}.{TRACKING}")
    draft.write_text(json.dumps(dataclasses.asdict(record), indent=2) + "\n", encoding="utf-8")
    draft.replace(directory / TRACKING)
