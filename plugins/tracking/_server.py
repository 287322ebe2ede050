"""One MLflow store and experiment: its address, whether anyone is there, and what is logged.

An address from the configuration is stored with the run and so may hold no password; one from the
environment may, and is told and stored without it. Runs go through MLflow's own client with
explicit run ids.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from framework.errors import TrackingError, UserError
from framework.registry import nearest
from framework.store.atomic import lock
from plugins.tracking._bounded import bound_answers
from plugins.tracking._database import make_whole
from plugins.tracking._deadline import Deadlined, within

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Run

    from plugins.tracking._content import Upload

ENVIRONMENT: Final = "MLFLOW_TRACKING_URI"
LOCAL: Final = Path("mlruns")
"""Folder of the local store, below the current directory."""
SERVERS: Final = ("http", "https")
_PORTS: Final = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_ALLOWED: Final = (*SERVERS, "sqlite", *_PORTS)
_PROBE_SECONDS: Final = 4.0
_WAIT_S: Final = 300.0
"""For another process that makes or fills the same run."""
_LONGEST: Final = 300


def check(uri: str) -> None:
    """Raise ValueError for an address that MLflow has no store for. Its text is never repeated."""
    parts = _split(uri)
    if parts.scheme == "":
        raise ValueError(
            "uri: no scheme given; a folder is no store, sqlite:///mlruns/mlflow.db would be one"
        )
    kind = _kind(parts)
    if kind not in _ALLOWED:
        raise ValueError(f"uri: scheme {parts.scheme!r} given{nearest(kind, _ALLOWED)}")
    if kind == "sqlite" and not _sqlite_file(uri):
        raise ValueError("uri: sqlite needs a file, as in sqlite:///mlruns/mlflow.db")
    if kind in SERVERS and not parts.hostname:
        raise ValueError("uri: no host given")


def check_public(uri: str) -> None:
    """Raise ValueError as `check` does, and for an address that holds a secret."""
    check(uri)
    if _secrets(_split(uri)):
        raise ValueError(
            "uri: it holds a secret, which would be stored with every run; give the address by the "
            f"environment variable {ENVIRONMENT}, or the password by MLFLOW_TRACKING_PASSWORD or "
            "the database's own variable (PGPASSWORD)"
        )


def resolve(setting: str | None) -> str:
    """The address to use: the setting, else the environment's, else the local database.

    A database file is made absolute. Raises TrackingError for a bad address in the environment.
    """
    if setting is None and (named := os.environ.get(ENVIRONMENT)):
        try:
            check(named)
        except ValueError as error:
            raise TrackingError(f"{ENVIRONMENT}: {error}") from None
        setting = named
    if setting is None:
        return f"sqlite:///{Path.cwd() / LOCAL / 'mlflow.db'}"
    parts = _split(setting)
    if _kind(parts) == "sqlite":
        return f"{parts.scheme}:///{Path.cwd() / _sqlite_file(setting)}"
    return setting.rstrip("/")


def database_file(uri: str) -> Path | None:
    """The file of a resolved sqlite address; None for any other."""
    return Path(_sqlite_file(uri)) if _kind(_split(uri)) == "sqlite" else None


def artifact_location(uri: str) -> str | None:
    """Where a new experiment keeps its artifacts: beside a database file; a server knows itself."""
    if _kind(_split(uri)) in SERVERS:
        return None
    file = database_file(uri)
    return ((file.parent if file else Path.cwd() / LOCAL) / "artifacts").as_uri()


def public(uri: str) -> str:
    """The address without user, password and query."""
    if database_file(uri) is not None:
        return uri.partition("?")[0]  # urlunsplit would drop the slashes of an empty host
    parts = _split(uri)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def explain(error: Exception, uri: str) -> str:
    """The error in one line, without what is secret in the address."""
    text = " ".join(str(error).split()) or type(error).__name__
    for more in (" (Background on this error at:", " [SQL: "):  # SQLAlchemy's pages, the statement
        text = text.partition(more)[0]
    text = text.replace(uri, public(uri))
    parts = _split(uri)
    for secret in _secrets(parts):
        for form in {secret, unquote(secret)}:
            text = text.replace(form, "***")
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def probe(uri: str) -> None:
    """Raise TrackingError unless someone answers there, within seconds.

    MLflow's own client would go on trying for minutes.
    """
    within(2 * _PROBE_SECONDS, public(uri), _probe, uri)


def _probe(uri: str) -> None:
    from http.client import HTTPException
    from urllib import error as failed
    from urllib import request

    parts = _split(uri)
    kind = _kind(parts)
    try:
        if kind in SERVERS:
            with request.urlopen(f"{public(uri)}/health", timeout=_PROBE_SECONDS):
                pass
        elif kind in _PORTS and parts.hostname:
            address = (parts.hostname, parts.port or _PORTS[kind])
            with socket.create_connection(address, timeout=_PROBE_SECONDS):
                pass
    except failed.HTTPError:
        return  # an answer, whatever it says
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        why = explain(reason, uri) if isinstance(reason, Exception) else str(reason)
        raise TrackingError(f"nobody answers at {public(uri)} ({why})") from None


def _split(uri: str) -> SplitResult:
    parts = urlsplit(uri)
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("uri: its port is not a number") from None
    return parts


def _kind(parts: SplitResult) -> str:
    """The scheme without the driver of `postgresql+psycopg`."""
    return parts.scheme.partition("+")[0]


def _sqlite_file(uri: str) -> str:
    """`sqlite:///a.db` names a.db here, `sqlite:////a.db` the absolute /a.db; else empty.

    SQLAlchemy takes the name as it stands, so nothing is decoded.
    """
    name = uri.partition(":///")[2].partition("?")[0]
    return "" if name == ":memory:" else name


def _secrets(parts: SplitResult) -> list[str]:
    """What is secret in an address, in its own spelling."""
    found = [
        value
        for key, value in parse_qsl(parts.query)
        if any(word in key.lower() for word in ("pass", "pwd", "token", "secret"))
    ]
    user, colon, password = parts.netloc.rpartition("@")[0].partition(":")
    if colon:
        found.append(password)
    elif user and _kind(parts) in SERVERS:
        found.append(user)  # a token
    return [secret for secret in found if secret]


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold a directory against other processes; the lock goes with its holder.

    Raises TrackingError where one has it for too long.
    """
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            lock(descriptor, _WAIT_S, str(directory))
        except UserError as error:
            raise TrackingError(str(error)) from None
        yield
    finally:
        os.close(descriptor)


PARENT: Final = "mlflow.parentRunId"
_METRICS_A_CALL: Final = 800
_OTHERS_A_CALL: Final = 100
_RACES: Final = 3
"""Times that the same data is logged again after another process has made it."""
_QUIET: Final = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # Whoever answered the probe may still go away; by default MLflow would try 7 times for 120 s.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    # What a run measured would go to wherever the server says.
    "MLFLOW_ALLOW_HTTP_REDIRECTS": "false",
}


class Server:
    """An experiment in a store that answers. Made by `connect`."""

    def __init__(self, client: MlflowClient, uri: str, experiment_id: str) -> None:
        self._client = client
        self.uri = uri
        self.experiment_id = experiment_id

    def find(self, run_id: str, tag: str, value: str) -> Run | None:
        """The run of an id or, without one, that bears a tag. Deleted ones are gone."""
        from mlflow.exceptions import MlflowException

        if run_id:
            try:
                run = self._client.get_run(run_id)
            except MlflowException as error:
                if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                    raise
            else:
                if run.info.lifecycle_stage == "active":
                    return run
        found: list[Run] = self._client.search_runs(
            [self.experiment_id], f"tags.{tag} = '{value}'", max_results=1
        )
        return found[0] if found else None

    def create(self, name: str, started: int, tags: Mapping[str, str]) -> Run:
        """A new run under way since `started` (UTC, milliseconds)."""
        return self._client.create_run(
            self.experiment_id, start_time=started, tags=dict(tags), run_name=name
        )

    def fill(self, run_id: str, upload: Upload, tags: Mapping[str, str]) -> None:
        """Log all of an upload. Again changes nothing: every metric has the same time and step."""
        from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag

        metrics = [Metric(k, v, upload.finished, 0) for k, v in upload.metrics.values.items()]
        metrics += [
            Metric(name, value, upload.finished, step)
            for name, curve in upload.metrics.curves.items()
            for step, value in sorted(curve.items())
        ]
        params = [Param(k, v) for k, v in upload.params.items()]
        labels = [RunTag(k, v) for k, v in {**upload.tags, **tags}.items()]
        metric, other = _METRICS_A_CALL, _OTHERS_A_CALL
        calls = max(-(-len(metrics) // metric), -(-max(len(params), len(labels)) // other))
        for i in range(calls):
            self._client.log_batch(
                run_id,
                metrics=metrics[metric * i : metric * (i + 1)],
                params=params[other * i : other * (i + 1)],
                tags=labels[other * i : other * (i + 1)],
            )
        if upload.data is not None:
            data = Dataset(
                name=upload.data.name,
                digest=upload.data.digest,
                source_type="domain",
                source=upload.data.source,
            )
            self._log_input(run_id, DatasetInput(data, []))
        for path in upload.files:
            self._client.log_artifact(run_id, str(path))
        for path in upload.pictures:
            self._client.log_artifact(run_id, str(path), path.parent.name)

    def _log_input(self, run_id: str, data: DatasetInput) -> None:
        """Log what was measured on, once more where another process has just made the same data.

        The server looks whether it has a dataset and then inserts it, with nothing between to keep
        two processes from both finding none; the second finds it when it asks again.
        """
        from mlflow.exceptions import MlflowException

        for again in range(_RACES, -1, -1):
            try:
                return self._client.log_inputs(run_id, [data])
            except MlflowException as error:
                if not again or "dataset" not in str(error):
                    raise

    def end(self, run_id: str, upload: Upload, status: str) -> None:
        """Give a run its name, end time and status."""
        self._client.update_run(run_id, name=upload.name)
        self._client.set_terminated(run_id, status, upload.finished)


@contextmanager
def connect(uri: str, experiment: str) -> Iterator[Server]:
    """The experiment in the store at a resolved address, made where it is not there yet.

    Raises TrackingError, in one line without secrets, when nobody answers, within seconds, and for
    whatever the store refuses while the context lasts.
    """
    probe(uri)
    with _refusals(uri):
        file = database_file(uri)
        if file is None:
            server = _open(uri, experiment)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            # Of several processes that make the tables at once, all but one would fail.
            with locked(file.parent):
                server = _open(uri, experiment)
        yield server


@contextmanager
def _refusals(uri: str) -> Iterator[None]:
    """Turn what files, MLflow and its database driver raise into TrackingError."""
    try:
        yield
    except Exception as error:
        library = type(error).__module__.partition(".")[0]
        if isinstance(error, OSError) or library in ("mlflow", "sqlalchemy", "sqlite3"):
            raise TrackingError(explain(error, uri)) from None
        raise


def _open(uri: str, experiment: str) -> Server:
    """Open the store. The garbage collector rests meanwhile.

    It would go over the many thousand objects of the import again and again, and once more at
    exit: half of the time that MLflow takes.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    collecting = gc.isenabled()
    gc.disable()
    try:
        from mlflow import MlflowClient

        logging.getLogger("mlflow").setLevel(logging.WARNING)
        _check_database(uri)
        if (file := database_file(uri)) is not None:
            make_whole(file)
        client = MlflowClient(uri)
        if _kind(_split(uri)) in SERVERS:
            bound_answers()
            client = cast("MlflowClient", Deadlined(client, public(uri)))
        return Server(client, uri, _experiment(client, uri, experiment))
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def _check_database(uri: str) -> None:
    """Log in to a database once: MLflow would take two minutes to give up."""
    file = database_file(uri)
    if file is not None:
        with closing(sqlite3.connect(file, timeout=5)) as connection:
            connection.execute("PRAGMA schema_version")
    elif not uri.startswith(SERVERS):
        from sqlalchemy import create_engine

        timeout = {} if uri.startswith("mssql") else {"connect_timeout": 5}
        try:
            create_engine(uri, connect_args=timeout).connect().close()
        except ImportError as error:
            raise TrackingError(f"{public(uri)} needs a driver: {error}") from None


def _experiment(client: MlflowClient, uri: str, name: str) -> str:
    """The id of the experiment, made where there is none."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifact_location(uri)))
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
            found = client.get_experiment_by_name(name)  # another process was faster
    if found is None or found.lifecycle_stage != "active":
        raise TrackingError(f"experiment {name!r} was deleted; restore it or name another")
    return str(found.experiment_id)
