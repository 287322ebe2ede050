"""MLflow's database in a file: whole or not there.

MLflow makes and migrates its tables one statement at a time. Where the disk is full meanwhile, they
stay half made, and every later start ends with `duplicate column name`. So it happens in a draft
beside the file, which takes the file's place when it is whole.
"""

from __future__ import annotations

import logging
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from framework.errors import TrackingError
from framework.text.counting import counted

_HALF_MADE: Final = ("duplicate column name", "already exists", "no such table", "no such column")
"""What SQLite says to a migration of tables that are half migrated."""

_log = logging.getLogger(__name__)


def make_whole(file: Path) -> None:
    """Make or migrate the tables of a database where any is missing.

    One that an interrupted migration left is set aside where it holds no run. Raises TrackingError
    where it holds some, and what SQLAlchemy raises where the draft can't be written.
    """
    if _has_all(file):
        return
    from sqlalchemy.exc import DatabaseError

    try:
        _migrate(file)
    except DatabaseError as error:
        said = str(error.orig)
        if not any(problem in said for problem in _HALF_MADE):
            raise
        if runs := _runs(file):
            raise TrackingError(
                f"{file}: a migration by MLflow was interrupted ({said}); it holds "
                f"{counted(runs, 'run')}: put a copy from before in its place, or move it "
                "away and upload again"
            ) from None
        aside = _set_aside(file)
        _log.warning("%s: half made (%s), set aside as %s", file, said, aside.name)
        _migrate(file)


def _has_all(file: Path) -> bool:
    import mlflow.store.db.utils  # noqa: F401  # which defines the tables
    from mlflow.store.db.base_sql_model import Base

    with closing(sqlite3.connect(file, timeout=5)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found} >= set(Base.metadata.tables)


def _migrate(file: Path) -> None:
    """Bring a copy of the database up to date, and put it in the place of the file."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    # MLflow keeps what it opened by its name, so that each try has another.
    draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}.draft")
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(draft)) as copy:
            source.backup(copy)
        make: Any = SqlAlchemyStore  # not a client: what it opens can be closed before the renaming
        make(f"sqlite:///{draft}", (file.parent / "artifacts").as_uri()).engine.dispose()
        draft.replace(file)
    finally:
        for name in (draft.name, f"{draft.name}-journal"):
            file.with_name(name).unlink(missing_ok=True)


def _runs(file: Path) -> int:
    try:
        with closing(sqlite3.connect(file, timeout=5)) as connection:
            return int(connection.execute("SELECT COUNT(*) FROM runs").fetchone()[0])
    except sqlite3.OperationalError:  # the table is not made yet
        return 0


def _set_aside(file: Path) -> Path:
    """Move the file to a name that is free."""
    number = 1
    while (aside := file.with_name(f"{file.name}.unfinished-{number}")).exists():
        number += 1
    file.rename(aside)
    return aside
