"""MLflow's server on a store, started as `make ui` starts it."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 90.0
"""The longest that it may take to answer on a busy machine."""


class Serving:
    """The recipe of `make ui` on another database and a free port, until the block ends."""

    def __init__(self, database: Path, log: Path) -> None:
        recipe = subprocess.run(
            ["make", "--dry-run", "ui"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        lines = recipe.replace("\\\n", " ").splitlines()
        (command,) = (line for line in lines if "mlflow ui" in line)
        local = str(ROOT / "mlruns")
        assert f"sqlite:///{local}/{database.name}" in command
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        self._words = shlex.split(command.replace(local, str(database.parent)))
        self._url = f"http://127.0.0.1:{port}"
        self._words += ["--port", str(port)]
        self._log = log

    def __enter__(self) -> str:
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                ["env", *self._words], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self._url}/health", timeout=1):
                    return self._url
            except OSError:
                time.sleep(0.2)
        self.__exit__()
        pytest.fail(f"`make ui` did not come up:\n{self._log.read_text()[-2000:]}")

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(20)
