"""A database that a full disk left half migrated: recognised, and set aside where it is empty."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from framework.errors import TrackingError
from plugins.tracking._server import connect

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # within MLflow


def half_made(file: Path) -> None:
    """A column of a migration is there, and neither its mark nor the tables that come later."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '0584bdc529eb'")
        database.execute("DROP TABLE trace_tags")


@pytest.mark.slow
def test_a_database_without_runs_is_set_aside_and_made_again(
    uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = Path(uri.removeprefix("sqlite:///"))
    half_made(file)
    with connect(uri, "again") as server:
        assert server.create("r", 0, {}).info.run_id
    assert sorted(p.name for p in file.parent.iterdir()) == [
        "mlflow.db",
        "mlflow.db.unfinished-1",
    ]
    (said,) = [r.getMessage() for r in caplog.records if r.name.startswith("plugins")]
    assert said.startswith(f"{file}: half made (")
    assert said.endswith("set aside as mlflow.db.unfinished-1")


def test_a_database_with_runs_is_left_and_told_in_one_line(uri: str) -> None:
    file = Path(uri.removeprefix("sqlite:///"))
    with connect(uri, "first") as server:
        server.create("r", 0, {})
    half_made(file)
    before = file.read_bytes()
    with (
        pytest.raises(TrackingError, match=r"interrupted .* it holds 1 run:") as caught,
        connect(uri, "first"),
    ):
        pass
    assert "\n" not in str(caught.value)
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == ["mlflow.db"]


@pytest.mark.slow
def test_a_disk_that_is_full_leaves_nothing_half_made(tmp_path: Path) -> None:
    """As `RLIMIT_FSIZE` has it: no file grows beyond 200 KB."""
    uri = f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}"
    code = (
        "import sys\nfrom plugins.tracking._server import connect\n"
        "from framework.errors import TrackingError\n"
        "try:\n    with connect(sys.argv[1], 'x'):\n        pass\n"
        "except TrackingError as error:\n    print('told:', error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, uri],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[3],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )
    assert done.stdout.startswith("told: "), done
    with connect(uri, "x") as server:
        assert server.create("r", 0, {}).info.run_id
