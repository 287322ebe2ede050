"""One local store for each test, and a client that looks into it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with MLflow's tables and nothing in them: making them takes a second."""
    from plugins.tracking._server import connect

    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    with connect(f"sqlite:///{path}", "another"):
        pass
    return path.read_bytes()


@pytest.fixture
def uri(tmp_path: Path, empty_database: bytes) -> str:
    """The address of a store of this test's own."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "mlflow.db").write_bytes(empty_database)
    return f"sqlite:///{store / 'mlflow.db'}"


@pytest.fixture
def client(uri: str) -> MlflowClient:
    """MLflow's client on the store."""
    from mlflow import MlflowClient

    return MlflowClient(uri)


@pytest.fixture
def stored(client: MlflowClient) -> Callable[[], list[Run]]:
    """All runs in the experiment, the latest first; deleted ones are not."""

    def runs() -> list[Run]:
        experiment = client.get_experiment_by_name("decisionbench")
        if experiment is None:
            return []
        return list(client.search_runs([experiment.experiment_id]))

    return runs
