"""What is logged while a job runs, in a file of its own directory."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from framework.store.directory import JOB_LOG


class _File(logging.Handler):
    """Appends to a file of a directory, once that is there: the run makes it whole."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._directory = directory
        self._waiting: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._waiting.append(self.format(record) + "\n")
        if self._directory.is_dir():
            with (
                suppress(OSError),  # a full disk ends the run where its results are written
                (self._directory / JOB_LOG).open("a", encoding="utf-8") as file,
            ):
                file.writelines(self._waiting)
                self._waiting.clear()


@contextmanager
def job_log(directory: Path) -> Iterator[None]:
    """Inside, what `framework` logs is also kept in the job's directory."""
    log = logging.getLogger("framework")
    handler = _File(directory)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
