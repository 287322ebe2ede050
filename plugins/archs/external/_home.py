"""A fresh home for a system, the environment it sees, and the keeper that starts and ends it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from framework.sandbox import call_filter
from plugins.archs.external._keys import Secrets
from plugins.archs.external._mapping import SystemFailed, fill
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import CommandSettings

_KEEPER: Final = Path(__file__).with_name("_keeper.py")
_UNIX_ONLY: Final = (1,)  # AF_UNIX: no network beyond the machine, nor its own
BOUND: Final = 16 * 2**20
"""Bytes that a system may say in answer to one request; more is a flood."""
_LAST: Final = 15
"""Lines that a runtime writes with an error at most: where it arose, and its own version."""
_NAMES_ERROR: Final = re.compile(r"[Ee]rror\b")
_SAYS_ERROR: Final = re.compile(r"[\w.]*(Error|Exception)( \[\w+\])?: .")
_STDERR_KEPT: Final = 2000
"""Bytes that the keeper keeps of what a system writes to stderr, as in _keeper.py."""


class Home:
    """A directory of its own for one history, gone with `close`; the system's HOME and place.

    port : where it is to listen, if it is a server. last : where the keeper leaves an answer that
        no arm took. command, environment : what starts the keeper,
        and with it the system. secrets : what may not be told of them.
    """

    __slots__ = ("_errors", "_folder", "command", "environment", "path", "secrets")

    def __init__(
        self,
        settings: CommandSettings,
        proxy: Proxy | None = None,
        port: int | None = None,
        last: Path | None = None,
    ) -> None:
        self.secrets = Secrets(settings)
        # Beside the socket of its models, in a folder that the keeper removes with both.
        self._folder = Path(tempfile.mkdtemp(prefix="memory-")) if proxy is None else proxy.folder
        self.path = self._folder if proxy is None else self._folder / "home"
        self.path.mkdir(exist_ok=True)
        self._errors = self._folder.with_name(f"{self._folder.name}.stderr")
        values = {**settings.places, "home": str(self.path), "port": str(port)}
        declared = fill(settings.environment, values)
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.path),
            "TMPDIR": str(self.path),
            "LANG": "C.UTF-8",
            **({} if proxy is None else proxy.environment),
            **{name: str(value) for name, value in declared.items()},
        }
        closed = "-" if settings.network else network_filter()
        # Nobody waits for what a server writes to its output, so that there is no bound on it.
        bound = BOUND if port is None else 0
        keeper = [sys.executable, "-I", "-S", str(_KEEPER), str(bound), closed]
        keeper += [str(self._folder), str(self._errors)]
        keeper += ["-" if last is None else str(last.absolute()), str(settings.timeout_seconds)]
        self.command = [*keeper, *map(str, fill(settings.command, values))]

    def errors(self) -> int:
        """A descriptor that the keeper writes its last words to; the caller closes it."""
        return os.open(self._errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def failed(self, what: str) -> SystemFailed:
        """The error of a system that did `what`, with what it wrote to stderr.

        That is the last line that begins with an error and says which; else the last that names
        one, since what comes after it may be its runtime's version; else the last line.
        """
        with contextlib.suppress(OSError):
            written = self._errors.read_text(encoding="utf-8", errors="replace")
            if len(written.encode()) >= _STDERR_KEPT:  # it may begin within a secret
                written = written[self.secrets.longest :]
            lines = [one.strip() for one in self.secrets.hide(written).split("\n") if one.strip()]
            said = [line for line in lines if _SAYS_ERROR.match(line)]
            named = [line for line in lines[-_LAST:] if _NAMES_ERROR.search(line)]
            what = ": ".join([what, *(said or named or lines)[-1:]])
        return SystemFailed(self.secrets.hide(what).replace(str(self.path), "HOME"))

    def close(self) -> None:
        """Remove the directory."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._errors.unlink(missing_ok=True)


def network_filter() -> str:
    """The system call filter that closes the network, in hex; `-` where there is none."""
    if sys.platform != "linux":
        return "-"
    try:
        return call_filter(families=_UNIX_ONLY).hex()
    except KeyError:  # a machine type whose system calls are not known here
        return "-"
