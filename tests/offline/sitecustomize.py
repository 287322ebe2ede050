"""Refuses every network connection but loopback; Python runs it at start-up from PYTHONPATH.

An audit hook sees each attempt of the process, whatever library makes it and in whatever thread.
The error is no OSError, so that code which tolerates an unreachable server does not hide it.
"""

from __future__ import annotations

import ipaddress
import sys


class NetworkBlocked(RuntimeError):
    """A test tried to reach something beyond this machine."""


def _is_local(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_network(event: str, args: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        # A path (unix socket) or None (already connected) stays on this machine.
        if not isinstance(address, tuple) or _is_local(address[0]):
            return
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        address = args[0]
        if _is_local(address):
            return
    else:
        return
    raise NetworkBlocked(f"tests have no network: {event} {address!r}")


sys.addaudithook(_refuse_network)
