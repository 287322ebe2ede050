"""Every connection to the host of the run's models goes to its UNIX socket, whatever makes it.

For systems whose clients are not httpx (`bridge` sees to that): urllib, requests, asyncio. It
is told where the socket is by the environment, as `bridge` is, and sets no clock, so that a server
which measures time can be started under it.
"""

from __future__ import annotations

import os
import socket
from typing import Any

HOST = "decisionbench"
PATH = os.environ.get("DECISIONBENCH_SOCKET", "")


def _connect() -> None:
    look_up, set_option = socket.getaddrinfo, socket.socket.setsockopt

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host in (HOST, HOST.encode()):
            return [(socket.AF_UNIX, socket.SOCK_STREAM, 0, "", PATH)]
        return look_up(host, *args, **kwargs)

    def setsockopt(self: socket.socket, level: int, *args: Any) -> None:
        if self.family != socket.AF_UNIX or level != socket.IPPROTO_TCP:  # TCP_NODELAY and such
            set_option(self, level, *args)

    socket.getaddrinfo = getaddrinfo
    setattr(socket.socket, "setsockopt", setsockopt)  # noqa: B010  # mypy: a method is no variable


if PATH:
    _connect()
