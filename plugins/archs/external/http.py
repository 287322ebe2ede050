"""A memory behind a JSON API over HTTP, by a declared mapping of its endpoints."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal
from urllib.parse import quote, urlencode, urlsplit

from framework.errors import UserError
from framework.records import EMPTY
from framework.registry import register
from framework.text.reading import read_json
from plugins.archs.external._calls import CalledSystem
from plugins.archs.external._home import BOUND
from plugins.archs.external._mapping import (
    START,
    SystemFailed,
    fill,
    fill_text,
    uses,
)
from plugins.archs.external._memory import ExternalMemory, System
from plugins.archs.external._program import Program
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import OPERATIONAL, CalledSettings, CommandSettings
from plugins.archs.external._shared import Share

_IN_ADDRESS: Final = ("GET", "DELETE")
"""Methods whose fields go into the address, as parameters; those of others are a JSON object."""
_CHUNK: Final = 1 << 16
_HERE: Final = "http://127.0.0.1:{port}"
"""Where a server is that was started, if the mapping says no more."""
_EVERY_S: Final = 0.05
"""Between two questions whether a server that was started answers."""
_NOT_YET: Final = 500
"""Statuses from here on are of a server that is still at its start."""
_TOO_MANY: Final = 429
"""The status of a request that was not served, since there were too many."""
_AGAIN_S: Final = 1.0
"""Before such a request is made again, where the answer says no more."""
_LAST_WORDS_S: Final = 1.0
"""For the end of a server to be known, after a connection to it broke."""


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
class HttpSettings(CommandSettings, CalledSettings):
    """A JSON API: where it is, what adds an event, what searches, what forgets everything.

    address : `http://127.0.0.1:8000`; another path may follow. With a command, the address of the
        server that it starts, by default `http://127.0.0.1:{port}`: `{port}` is a free port, also
        in the command and its environment.
    add, search, reset, forget, settle : the endpoints.
    """

    writes = "add"
    starts: ClassVar[tuple[str, ...]] = (*START, "port")
    add: Endpoint | None = None
    search: Endpoint | None = None
    reset: Endpoint | None = None
    forget: Endpoint | None = field(default=None, metadata=OPERATIONAL)
    settle: Endpoint | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.command:
            if self.models is not None:
                raise ValueError("models: of a system that is started, and no command is declared")
            if uses(self.address, "port"):
                raise ValueError("address: {port} is of a server that a command starts")
            return
        if not uses([self.command, self.environment], "port"):
            raise ValueError("command: {port}, where the server has to listen, is not in it")
        if self.address and not uses(self.address, "port"):
            raise ValueError(f"address: of the server that is started, as {_HERE}/path")
        if not self.network:
            raise ValueError("network: a server that is started listens on a port: declare true")

    def reached(self, **values: Any) -> str:
        return super().reached(**values) if self.address else fill_text(_HERE, values, str)

    def identity(self) -> dict[str, Any]:
        known = super().identity()
        if not self.command:  # as it was before there was any
            for name in ("command", "environment", "network"):
                del known[name]
        return known


@register("arch", "http")
class HttpMemory(ExternalMemory[HttpSettings]):
    """A third-party system behind a JSON API, with declared endpoints (any-memory.md)."""

    def require(self) -> None:
        if self.settings.address or not self.settings.command:
            url = self.settings.require_address()
            if url.query or url.fragment:
                raise UserError(
                    "arch.address: contains parameters; each call has its own path and fields"
                )
        self.settings.require_calls()
        if self.settings.command:
            self.settings.require_command()

    def open(self, proxy: Proxy | None = None) -> System:
        return HttpSystem(self.settings, self.tenant, proxy)


class HttpSystem(CalledSystem[Endpoint]):
    """The requests of one history. `reset` is asked first, where it is declared.

    A server that the mapping starts is started here, and ended with `close`; fresh as it is, it
    needs no reset.
    """

    __slots__ = ("_closed", "_failure", "_program", "_settings", "_share", "_url", "_wires")

    def __init__(self, settings: HttpSettings, tenant: str, proxy: Proxy | None = None) -> None:
        super().__init__(settings, tenant)
        self._settings = settings
        self._wires: set[socket.socket] = set()
        self._closed, self._failure = threading.Event(), ""
        self._program: Program | None = None
        port = _free_port() if settings.command else None
        self._url = urlsplit(settings.reached(port=port))
        self._share = Share(
            settings.address,
            tenant,
            apart=settings.is_started or settings.apart,
            seconds=settings.timeout_seconds,
        )
        try:
            if port is not None:
                self._program = Program(settings, proxy, port)
                self._wait_until_it_answers()
            elif settings.reset is not None:
                self.reset()
        except BaseException:
            self.close()
            raise

    def _wait_until_it_answers(self) -> None:
        """Ask for the address until any answer comes. Raises SystemFailed where none does."""
        assert self._program is not None
        end, status = time.monotonic() + self._settings.timeout_seconds, 0
        while time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, *_ = self._exchange("GET", self._url.path or "/", None, {}, end)
                if status < _NOT_YET:
                    return
            if self._program.process.poll() is not None:
                raise self._ended("start")
            time.sleep(_EVERY_S)
        said = f", but status {status}" if status else ""
        seconds = self._settings.timeout_seconds
        self._program.terminate()  # what it wrote last is known with its end
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._program.process.wait(_LAST_WORDS_S)
        where = f"from {self._url.netloc} within {seconds:g} s"
        raise self._program.home.failed(f"start: no answer {where}{said}")

    def _ended(self, what: str) -> SystemFailed:
        assert self._program is not None
        status = self._program.process.returncode
        failed = self._program.home.failed(f"{what}: it ended with status {status}")
        self._failure = str(failed)
        return failed

    def tools(self) -> list[str]:
        told = self._settings
        named = (told.add, told.search, told.reset, told.settle, told.forget)
        return [f"{one.method} {one.path}" for one in named if one is not None]

    def close(self) -> None:
        self._closed.set()
        for wire in tuple(self._wires):
            _shut(wire)
        if self._program is not None:
            self._program.end()
        self._share.close()

    def _call(self, what: str, call: Endpoint, values: Mapping[str, Any]) -> Any:
        """The JSON that a request is answered with; None where the answer is empty."""
        if self._closed.is_set():
            ended = f"it has ended before: {self._failure}" if self._failure else ""
            raise SystemFailed(f"{what}: {ended or 'it was closed before'}")
        if self._program is not None and self._program.process.poll() is not None:
            raise self._ended(what)  # its port may be another's by now
        fields = fill(call.fields, values)
        path = fill_text(call.path, values, lambda value: quote(str(value), safe=""))
        target, body = self._url.path.rstrip("/") + path, None
        headers = {"Accept": "application/json", **fill(self._settings.headers, {})}
        if call.method in _IN_ADDRESS:
            target += f"?{_parameters(fields)}" if fields else ""
        else:
            body = json.dumps(fields, ensure_ascii=False).encode()
            headers["Content-Type"] = "application/json"
        end = time.monotonic() + self._settings.timeout_seconds
        try:
            while True:
                with self._share.asked():
                    status, read, wait = self._exchange(call.method, target, body, headers, end)
                if status != _TOO_MANY or time.monotonic() + wait >= end:
                    break
                self._closed.wait(wait)  # it was not served: asked again, it comes once
        except (
            OSError,
            http.client.HTTPException,
            ValueError,
        ) as error:  # of a header's value, too
            seconds = self._settings.timeout_seconds
            slow = isinstance(error, TimeoutError)
            if self._program is not None and not (slow or self._closed.is_set()):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._program.process.wait(_LAST_WORDS_S)
                    raise self._ended(what) from None
            said = f"{type(error).__name__}: {error}"
            if slow:
                said = f"no answer from {self._url.netloc} within {seconds:g} s"
            elif isinstance(error, ConnectionRefusedError):
                said = f"nothing listens at {self._url.netloc}"
            elif isinstance(error, socket.gaierror):
                said = f"no host of the name {self._url.hostname} is known"
            elif isinstance(error, ssl.SSLError):
                said += " (the address says https)"
            # A connection that `close` shut ends in whatever the transport makes of it.
            raise SystemFailed(
                f"{what}: {'it was closed' if self._closed.is_set() else said}"
            ) from None
        # As declared: what a request was filled with may be long, or a secret.
        asked = f"{call.method} {(self._settings.address or _HERE).rstrip('/')}{call.path}"
        if not 200 <= status < 300:
            said = " ".join(self._secrets.hide(read.decode(errors="replace")).split())
            why = f"status {status}: {said[:200]}" if said else f"status {status}"
            raise SystemFailed(f"{what}: {why} ({asked})")
        try:
            return read_json(read) if read.strip() else None
        except ValueError:
            told = self._secrets.hide(read.decode(errors="replace")).strip()
            raise SystemFailed(f"{what}: the answer is no JSON: {told[:80]!r} ({asked})") from None

    def _exchange(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], end: float
    ) -> tuple[int, bytes, float]:
        """Status and content of the answer, and the seconds after which to ask again.

        Raises TimeoutError where it is not there by `end`.
        """
        secure, host = self._url.scheme == "https", self._url.hostname
        assert host is not None
        wire = _connected(host, self._url.port or (443 if secure else 80), end)
        # Its own descriptor of the connection, whatever encryption makes of the other: a timeout of
        # the socket is of each read, so that a few bytes now and then would never end.
        own = wire.dup()
        self._wires.add(own)
        timer = threading.Timer(max(0.0, end - time.monotonic()), _shut, [own])
        timer.daemon = True
        timer.start()
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(host, self._url.port)
        connection.sock = wire
        try:
            if self._closed.is_set():  # since it was asked
                raise ConnectionAbortedError("it was closed")
            if secure:
                connection.sock = ssl.create_default_context().wrap_socket(
                    wire, server_hostname=host
                )
            connection.request(method, target, body, dict(headers))
            with connection.getresponse() as answer:
                read = _all_of(answer)
                status, wait = answer.status, _wait_of(answer)
        except (OSError, http.client.HTTPException):
            if time.monotonic() >= end:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
            connection.close()
            self._wires.discard(own)
            own.close()
        if time.monotonic() >= end:  # it was cut off, and may be half an answer
            raise TimeoutError
        if self._closed.is_set():  # likewise
            raise ConnectionAbortedError
        return status, read, wait


def _wait_of(answer: http.client.HTTPResponse) -> float:
    """The seconds of `Retry-After`; one, where none are said."""
    said = (answer.getheader("Retry-After") or "").strip()
    return max(float(said), _EVERY_S) if said.isascii() and said.isdecimal() else _AGAIN_S


def _parameters(fields: Mapping[str, Any]) -> str:
    """Fields as parameters of an address: what is no text as in JSON, of a list one for each."""

    def said(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    lists = {name: value if isinstance(value, list) else [value] for name, value in fields.items()}
    return urlencode([(name, said(one)) for name, values in lists.items() for one in values])


def _free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


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
    try:
        raise failed
    finally:
        del failed  # it holds this frame, and so all that waits here, until garbage is collected


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
