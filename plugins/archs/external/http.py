"""A memory behind a JSON API over HTTP, by a declared mapping of its endpoints."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode, urlsplit

from framework.errors import UserError
from framework.records import EMPTY
from framework.registry import register
from framework.text.reading import read_json
from plugins.archs.external._calls import CalledSystem
from plugins.archs.external._home import BOUND
from plugins.archs.external._mapping import SystemFailed, fill, fill_text
from plugins.archs.external._memory import ExternalMemory, System
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import OPERATIONAL, CalledSettings
from plugins.archs.external._shared import Share

_IN_ADDRESS: Final = ("GET", "DELETE")
"""Methods whose fields go into the address, as parameters; those of others are a JSON object."""
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One request: its path below the address, its method, its fields with placeholders.

    id : where the answer has the id that the system gave to an event; empty: nowhere.
    """

    path: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    fields: Mapping[str, Any] = EMPTY
    id: str = ""

    @property
    def filled(self) -> Any:
        """What has placeholders."""
        return [self.path, self.fields]


@dataclass(frozen=True, kw_only=True)
class HttpSettings(CalledSettings):
    """A JSON API: where it is, what adds an event, what searches, what forgets everything.

    address : `http://127.0.0.1:8000`; another path may follow. add, search, reset, forget, settle :
        the endpoints.
    """

    writes = "add"
    add: Endpoint | None = None
    search: Endpoint | None = None
    reset: Endpoint | None = None
    forget: Endpoint | None = field(default=None, metadata=OPERATIONAL)
    settle: Endpoint | None = None


@register("arch", "http")
class HttpMemory(ExternalMemory[HttpSettings]):
    """A memory of others behind a JSON API: add, search and reset, as declared (any-memory.md)."""

    def require(self) -> None:
        url = urlsplit(self.settings.address)
        if url.scheme not in ("http", "https") or not url.hostname:
            given = self.settings.address
            raise UserError(f"arch.address: {given!r} given, http(s)://host expected")
        self.settings.require_calls()

    def open(self, proxy: Proxy | None = None) -> System:
        return HttpSystem(self.settings, self.tenant)


class HttpSystem(CalledSystem[Endpoint]):
    """The requests of one history. `reset` is asked first, where it is declared."""

    __slots__ = ("_closed", "_settings", "_share", "_url", "_wire")

    def __init__(self, settings: HttpSettings, tenant: str) -> None:
        super().__init__(settings, tenant)
        self._settings = settings
        self._url = urlsplit(settings.address)
        self._wire: socket.socket | None = None
        self._closed = False
        self._share = Share(
            settings.address, tenant, apart=settings.apart, seconds=settings.timeout_seconds
        )
        try:
            if settings.reset is not None:
                self.reset()
        except BaseException:
            self.close()
            raise

    def tools(self) -> list[str]:
        named = (self._settings.add, self._settings.search, self._settings.reset)
        return [f"{one.method} {one.path}" for one in named if one is not None]

    def close(self) -> None:
        self._closed = True
        if self._wire is not None:
            _shut(self._wire)
        self._share.close()

    def _call(self, what: str, call: Endpoint, values: Mapping[str, Any]) -> Any:
        """The JSON that a request is answered with; None where the answer is empty."""
        if self._closed:
            raise SystemFailed(f"{what}: it was closed before")
        fields = fill(call.fields, values)
        path = fill_text(call.path, values, lambda value: quote(str(value), safe=""))
        target, body = self._url.path.rstrip("/") + path, None
        headers = {"Accept": "application/json", **fill(self._settings.headers, {})}
        if call.method in _IN_ADDRESS:
            target += f"?{urlencode(fields)}" if fields else ""
        else:
            body = json.dumps(fields, ensure_ascii=False).encode()
            headers["Content-Type"] = "application/json"
        try:
            with self._share.asked():
                status, read = self._exchange(call.method, target, body, headers)
        except (
            OSError,
            http.client.HTTPException,
            ValueError,
        ) as error:  # of a header's value, too
            seconds = self._settings.timeout_seconds
            slow = isinstance(error, TimeoutError)
            said = f"no answer within {seconds:g} s" if slow else f"{type(error).__name__}: {error}"
            raise SystemFailed(f"{what}: {said}") from None
        if not 200 <= status < 300:
            said = self._secrets.hide(read.decode(errors="replace"))
            raise SystemFailed(f"{what}: status {status}: {said[:200]}")
        try:
            return read_json(read) if read.strip() else None
        except ValueError:
            told = self._secrets.hide(read.decode(errors="replace")).encode()
            raise SystemFailed(f"{what}: the answer is no JSON: {told[:80]!r}") from None

    def _exchange(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Status and content of the answer. Raises TimeoutError where the whole takes too long."""
        end = time.monotonic() + self._settings.timeout_seconds
        secure, host = self._url.scheme == "https", self._url.hostname
        assert host is not None
        wire = _connected(host, self._url.port or (443 if secure else 80), end)
        # Its own descriptor of the connection, whatever encryption makes of the other: a timeout of
        # the socket is of each read, so that a few bytes now and then would never end.
        self._wire = wire.dup()
        timer = threading.Timer(max(0.0, end - time.monotonic()), _shut, [self._wire])
        timer.daemon = True
        timer.start()
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(host, self._url.port)
        connection.sock = wire
        try:
            if self._closed:  # since it was asked
                raise ConnectionAbortedError("it was closed")
            if secure:
                connection.sock = ssl.create_default_context().wrap_socket(
                    wire, server_hostname=host
                )
            connection.request(method, target, body, dict(headers))
            with connection.getresponse() as answer:
                read = _all_of(answer)
                status = answer.status
        except (OSError, http.client.HTTPException):
            if time.monotonic() >= end:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
            connection.close()
            self._wire.close()
        if time.monotonic() >= end:  # it was cut off, and may be half an answer
            raise TimeoutError
        return status, read


def _connected(host: str, port: int, end: float) -> socket.socket:
    """A connection to the first of the host's addresses that takes one."""
    failed: OSError = ConnectionError(f"{host} has no address")
    for family, kind, protocol, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        wire = socket.socket(family, kind, protocol)
        try:
            wire.settimeout(max(0.001, end - time.monotonic()))
            wire.connect(place)
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return wire
        except OSError as error:
            failed = error
            wire.close()
    raise failed


def _all_of(answer: http.client.HTTPResponse) -> bytes:
    read = bytearray()
    while data := answer.read1(_CHUNK):
        read += data
        if len(read) > BOUND:
            raise SystemFailed(f"it answered more than {BOUND:,} bytes")
    return bytes(read)


def _shut(wire: socket.socket) -> None:
    """End whatever is under way on a connection."""
    with contextlib.suppress(OSError):
        wire.shutdown(socket.SHUT_RDWR)
