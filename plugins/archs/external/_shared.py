"""Servers that all histories share: one history at a time, where nothing keeps histories apart."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from plugins.archs.external._mapping import SystemFailed

_PAUSE_S: Final = 0.05
"""Between two looks at a lock that another process holds."""
_OURSELVES: Final = ("localhost", "::1")
_SINCE: Final = (
    "another history was written to the same store since: use {tenant} in write, search and "
    "reset, so that both can be open at once"
)


@dataclass(slots=True)
class _Server:
    """One server as this process uses it.

    turn : held for one request. latest : the history that was opened last. held : the descriptor
    of the locked file, while that history is open; guarded, with `latest`, by `guard`.
    """

    name: str
    pid: int
    turn: threading.Lock = field(default_factory=threading.Lock)
    guard: threading.Lock = field(default_factory=threading.Lock)
    latest: str = ""
    held: int | None = None


_servers: dict[tuple[int, str], _Server] = {}  # by process too: a fork has none of its parent's


class Share:
    """One history's part in a server's store.

    apart : whether write, search and reset tell histories apart by `{tenant}`, so that any number
    may be open at once. Elsewhere the server is reset for each. Of this process only the history
    opened last may still ask: an older one would be told what another holds, so it fails instead.
    Another process of this user waits until it is closed, `seconds` at most.
    """

    def __init__(self, address: str, tenant: str, *, apart: bool, seconds: float) -> None:
        self._tenant, self._seconds = tenant, seconds
        self._server = None if apart else _server(address)
        if self._server is None:
            return
        end = time.monotonic() + seconds
        with self._turn(self._server):  # a request that is under way ends before the reset
            with self._server.guard:
                self._server.latest = tenant
                held = self._server.held
            if held is None:
                self._server.held = _locked(self._server.name, end, seconds)

    @contextlib.contextmanager
    def asked(self) -> Iterator[None]:
        """Around a request. Raises SystemFailed where another history was opened since."""
        if self._server is None:
            yield
            return
        self._check(self._server)
        with self._turn(self._server):
            self._check(self._server)
            yield

    def close(self) -> None:
        """Let others have the server, unless a newer history of this process has it."""
        server = self._server
        if server is None or server.pid != os.getpid():
            return
        with server.guard:
            if server.latest == self._tenant and server.held is not None:
                fcntl.flock(server.held, fcntl.LOCK_UN)  # also for a fork that has a copy of it
                os.close(server.held)
                server.held = None

    def _check(self, server: _Server) -> None:
        if server.latest != self._tenant:
            raise SystemFailed(_SINCE)

    @contextlib.contextmanager
    def _turn(self, server: _Server) -> Iterator[None]:
        if not server.turn.acquire(timeout=self._seconds):
            raise SystemFailed(f"the server was busy with another history for {self._seconds:g} s")
        try:
            yield
        finally:
            server.turn.release()


def _server(address: str) -> _Server:
    url = urlsplit(address)
    host = "127.0.0.1" if url.hostname in _OURSELVES else url.hostname
    name = f"{host}:{url.port or (443 if url.scheme == 'https' else 80)}"
    return _servers.setdefault((os.getpid(), name), _Server(name=name, pid=os.getpid()))


def _locked(name: str, end: float, seconds: float) -> int:
    """The descriptor of the file that is locked for a server, by this user on this machine."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    file = Path(tempfile.gettempdir()) / f"decisionbench-{os.getuid()}-{digest}.lock"
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            if time.monotonic() >= end:
                raise SystemFailed(
                    f"another process used the same store for {seconds:g} s: use {{tenant}} in "
                    "write, search and reset, or run one job after the other"
                )
            time.sleep(_PAUSE_S)
    except BaseException:
        os.close(descriptor)
        raise
