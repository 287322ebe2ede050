"""A system's process: the keeper's, started in a fresh home and ended with all that came of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from plugins.archs.external._home import Home
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import CommandSettings

_PATIENCE_S: Final = 5.0
"""For the keeper to end the system; it takes milliseconds."""


class Program:
    """A system that was started by its command. A fork has a copy of this object, and no say.

    port : where it listens; None where it answers on its standard output, which is `process.stdout`
        then. home : its own.
    """

    __slots__ = ("_owner", "home", "process")

    def __init__(
        self,
        settings: CommandSettings,
        proxy: Proxy | None = None,
        port: int | None = None,
        last: Path | None = None,
    ) -> None:
        self._owner = os.getpid()
        self.home = Home(settings, proxy, port, last)
        try:
            self.process = self._started(subprocess.PIPE if port is None else subprocess.DEVNULL)
        except BaseException:
            self.home.close()
            raise

    def _started(self, out: int) -> subprocess.Popen[bytes]:
        errors = self.home.errors()
        try:
            return subprocess.Popen(
                self.home.command,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=errors,
                env=self.home.environment,
                cwd=self.home.path,
                start_new_session=True,  # Ctrl-C is for the one who waits
                bufsize=0,
            )
        finally:
            os.close(errors)

    @property
    def is_ours(self) -> bool:
        """Whether this process started it."""
        return self._owner == os.getpid()

    def terminate(self) -> None:
        """Have it end, whatever it does now."""
        if self.is_ours:
            self.process.terminate()

    def end(self) -> None:
        """End it, with every process that came of it, and remove its home."""
        if not self.is_ours:
            return
        self.process.terminate()
        try:
            self.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:  # stopped, or stuck in the kernel
            self.process.kill()
            self.process.wait()
        pipes: list[Any] = [self.process.stdin, self.process.stdout]
        for pipe in pipes:
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.home.close()
