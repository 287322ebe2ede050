"""A memory behind a JSON API over HTTP, by a declared mapping of its endpoints."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode, urlsplit

from framework.errors import UserError
from framework.records import EMPTY, Event
from framework.registry import register
from plugins.archs.external._home import BOUND
from plugins.archs.external._mapping import (
    EVENT,
    RESET,
    SEARCH,
    AnswerPaths,
    Found,
    SystemFailed,
    at,
    check_template,
    fill,
    values_of,
)
from plugins.archs.external._memory import ExternalMemory, System
from plugins.archs.external._settings import SystemSettings, check_apart
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


@dataclass(frozen=True, kw_only=True)
class HttpSettings(SystemSettings):
    """A JSON API: where it is, what adds an event, what searches, what forgets everything.

    address : `http://127.0.0.1:8000`; another path may follow. headers : with each request;
        `{env.NAME}` keeps a key out of the mapping. add, search, reset : the endpoints. answer :
        where the results stand in the answer of `search`.
    """

    address: str = ""
    headers: Mapping[str, str] = EMPTY
    add: Endpoint | None = None
    search: Endpoint | None = None
    reset: Endpoint | None = None
    answer: AnswerPaths | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_template(self.headers, (), "headers")
        for name, endpoint, allowed in (
            ("add", self.add, EVENT),
            ("search", self.search, SEARCH),
            ("reset", self.reset, RESET),
        ):
            if endpoint is not None:
                check_template([endpoint.path, endpoint.fields], allowed, name)
        if self.add is not None and self.search is not None:
            check_apart(_all(self.add), _all(self.search), self.reset)


def _all(endpoint: Endpoint) -> list[Any]:
    return [endpoint.path, endpoint.fields]


@register("arch", "http")
class HttpMemory(ExternalMemory[HttpSettings]):
    """A memory of others behind a JSON API: add, search and reset, as declared (any-memory.md)."""

    def require(self) -> None:
        url = urlsplit(self.settings.address)
        if url.scheme not in ("http", "https") or not url.hostname:
            given = self.settings.address
            raise UserError(f"arch.address: {given!r} given, http(s)://host expected")
        for name in ("add", "search", "answer"):
            if getattr(self.settings, name) is None:
                raise UserError(f"arch.{name}: it has to be declared (any-memory.md)")
        fill(self.settings.headers, {})  # a variable that is not set is told here

    def open(self) -> System:
        return HttpSystem(self.settings, self.tenant)


class HttpSystem:
    """The requests of one history. `reset` is asked first, where it is declared."""

    __slots__ = ("_closed", "_connection", "_settings", "_share", "_tenant", "_url")

    def __init__(self, settings: HttpSettings, tenant: str) -> None:
        self._settings, self._tenant = settings, tenant
        self._url = urlsplit(settings.address)
        self._connection: http.client.HTTPConnection | None = None
        self._closed = False
        assert settings.add is not None
        assert settings.search is not None
        self._share = Share(settings.address, tenant, _all(settings.add), _all(settings.search))
        if settings.reset is not None:
            self.reset()

    def write(self, event: Event) -> str | None:
        assert self._settings.add is not None
        answer = self._ask("add", self._settings.add, values_of(event, self._tenant))
        path = self._settings.add.id
        return str(at(answer, path)) if path else None

    def search(self, query: str, limit: int) -> list[Found]:
        assert self._settings.search is not None
        assert self._settings.answer is not None
        values = {"query": query, "limit": limit, "tenant": self._tenant}
        return self._settings.answer.read(self._ask("search", self._settings.search, values))

    def reset(self) -> None:
        if self._settings.reset is None:
            raise NotImplementedError
        self._ask("reset", self._settings.reset, {"tenant": self._tenant})

    def tools(self) -> list[str]:
        named = (self._settings.add, self._settings.search, self._settings.reset)
        return [f"{one.method} {one.path}" for one in named if one is not None]

    def close(self) -> None:
        self._closed = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):  # ends a request that is under way
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _ask(self, what: str, endpoint: Endpoint, values: Mapping[str, Any]) -> Any:
        """The JSON that a request is answered with; None where the answer is empty."""
        if self._closed:
            raise SystemFailed(f"{what}: it was closed before")
        self._share.check()
        fields = fill(endpoint.fields, values)
        path = fill(endpoint.path, {k: quote(str(v or ""), safe="") for k, v in values.items()})
        target, body = self._url.path.rstrip("/") + path, None
        headers = {"Accept": "application/json", **fill(self._settings.headers, {})}
        if endpoint.method in _IN_ADDRESS:
            target += f"?{urlencode(fields)}" if fields else ""
        else:
            body = json.dumps(fields, ensure_ascii=False).encode()
            headers["Content-Type"] = "application/json"
        try:
            status, read = self._exchange(endpoint.method, target, body, headers)
        except (OSError, http.client.HTTPException) as error:
            seconds = self._settings.timeout_seconds
            slow = isinstance(error, TimeoutError)
            said = f"no answer within {seconds:g} s" if slow else f"{type(error).__name__}: {error}"
            raise SystemFailed(f"{what}: {said}") from None
        if not 200 <= status < 300:
            raise SystemFailed(f"{what}: status {status}: {read[:200].decode(errors='replace')}")
        try:
            return json.loads(read) if read.strip() else None
        except ValueError:
            raise SystemFailed(f"{what}: the answer is no JSON: {read[:80]!r}") from None

    def _exchange(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        seconds = self._settings.timeout_seconds
        end, read = time.monotonic() + seconds, bytearray()
        secure = self._url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        assert self._url.hostname is not None
        connection = kind(self._url.hostname, self._url.port, timeout=seconds)
        self._connection = connection
        with contextlib.closing(connection):
            connection.request(method, target, body, dict(headers))
            answer = connection.getresponse()
            with answer:
                while data := answer.read1(_CHUNK):
                    read += data
                    if len(read) > BOUND:
                        raise SystemFailed(f"it answered more than {BOUND:,} bytes")
                    if time.monotonic() > end:
                        raise TimeoutError
            return answer.status, bytes(read)
