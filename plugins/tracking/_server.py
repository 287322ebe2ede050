"""One MLflow store and experiment, through MLflow's own client with explicit run ids."""

from __future__ import annotations

import gc
import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from framework.errors import TrackingError
from plugins.tracking import _address as address
from plugins.tracking._content import Upload
from plugins.tracking._record import Record, locked

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Run

T = TypeVar("T")

PARENT: Final = "mlflow.parentRunId"
_METRICS_A_CALL: Final = 1_000
_OTHERS_A_CALL: Final = 100
_RACES: Final = 3
"""Times that the same data is logged again after another process has made it."""
_ENVIRONMENT: Final = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # Whoever answered the probe may still go away; by default MLflow would try 7 times for 120 s.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}


class Server:
    """An experiment in a store that answers. Made by `connect`."""

    def __init__(self, client: MlflowClient, uri: str, experiment_id: str) -> None:
        self._client = client
        self.uri = uri
        self.experiment_id = experiment_id

    def find(self, record: Record | None, tag: str, value: str) -> Run | None:
        """The run that a record names or, without one, that bears a tag. Deleted ones are gone."""
        from mlflow.exceptions import MlflowException

        if record is not None and record.run_id and record.uri == address.public(self.uri):
            try:
                run = self._client.get_run(record.run_id)
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
        for part in _batches(metrics, _METRICS_A_CALL):
            self._client.log_batch(run_id, metrics=part)
        params = [Param(k, v) for k, v in upload.params.items()]
        for some in _batches(params, _OTHERS_A_CALL):
            self._client.log_batch(run_id, params=some)
        labels = [RunTag(k, v) for k, v in {**upload.tags, **tags}.items()]
        for few in _batches(labels, _OTHERS_A_CALL):
            self._client.log_batch(run_id, tags=few)
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

    def end(self, run_id: str, finished: int, status: str) -> None:
        """Give a run its end time (UTC, milliseconds) and status."""
        self._client.set_terminated(run_id, status, finished)


@contextmanager
def connect(uri: str, experiment: str) -> Iterator[Server]:
    """The experiment in the store at a resolved address, made where it is not there yet.

    Raises TrackingError, in one line without secrets, when nobody answers, within seconds, and for
    whatever the store refuses while the context lasts.
    """
    address.probe(uri)
    with _refusals(uri):
        file = address.database_file(uri)
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
            raise TrackingError(address.explain(error, uri)) from None
        raise


def _open(uri: str, experiment: str) -> Server:
    """Open the store. The garbage collector rests meanwhile.

    It would go over the many thousand objects of the import again and again, and once more at
    exit: half of the time that MLflow takes.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    collecting = gc.isenabled()
    gc.disable()
    try:
        from mlflow import MlflowClient

        logging.getLogger("mlflow").setLevel(logging.WARNING)
        _check_database(uri)
        client = MlflowClient(uri)
        return Server(client, uri, _experiment(client, uri, experiment))
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def _check_database(uri: str) -> None:
    """Log in to a database once: MLflow would take two minutes to give up."""
    file = address.database_file(uri)
    if file is not None:
        with closing(sqlite3.connect(file, timeout=5)) as connection:
            connection.execute("PRAGMA schema_version")
    elif not uri.startswith(address.SERVERS):
        from sqlalchemy import create_engine

        timeout = {} if uri.startswith("mssql") else {"connect_timeout": 5}
        try:
            create_engine(uri, connect_args=timeout).connect().close()
        except ImportError as error:
            raise TrackingError(f"{address.public(uri)} needs a driver: {error}") from None


def _experiment(client: MlflowClient, uri: str, name: str) -> str:
    """The id of the experiment, made where there is none."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, address.artifact_location(uri)))
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
            found = client.get_experiment_by_name(name)  # another process was faster
    if found is None or found.lifecycle_stage != "active":
        raise TrackingError(f"experiment {name!r} was deleted; restore it or name another")
    return str(found.experiment_id)


def _batches(entries: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(entries), size):
        yield entries[start : start + size]
