"""A memory behind the Model Context Protocol, by a declared mapping of its tools."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from framework.errors import UserError
from framework.records import EMPTY
from framework.registry import register
from framework.text.reading import read_json
from plugins.archs.external._calls import CalledSystem
from plugins.archs.external._home import Home
from plugins.archs.external._mapping import SystemFailed, fill
from plugins.archs.external._memory import ExternalMemory, System
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import OPERATIONAL, CalledSettings, CommandSettings
from plugins.archs.external._shared import Share

if TYPE_CHECKING:
    from mcp import Client

    from plugins.archs.external._bounded import BoundedClient

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One call: the tool's name and its arguments, with placeholders.

    id : where the answer has the id that the system gave to an event; empty: nowhere.
    """

    tool: str
    arguments: Mapping[str, Any] = EMPTY
    id: str = ""

    @property
    def filled(self) -> Any:
        """What has placeholders."""
        return self.arguments


@dataclass(frozen=True, kw_only=True)
class McpSettings(CommandSettings, CalledSettings):
    """A server of the Model Context Protocol: started by `command`, or running at `address`.

    write, search, reset, forget, settle : the tools. The answer of `search` is an object with
        `structured`, `text` and, where that text is JSON, `json`.
    """

    write: Tool | None = None
    search: Tool | None = None
    reset: Tool | None = None
    forget: Tool | None = field(default=None, metadata=OPERATIONAL)
    settle: Tool | None = None


@register("arch", "mcp")
class McpMemory(ExternalMemory[McpSettings]):
    """A third-party system behind MCP, with declared tools (any-memory.md)."""

    def require(self) -> None:
        if importlib.util.find_spec("mcp") is None:
            raise UserError("arch=mcp needs the package mcp: pip install 'decisionbench[mcp]'")
        if bool(self.settings.command) == bool(self.settings.address):
            raise UserError("arch.command: a command or an address is required, and not both")
        self.settings.require_calls()
        if self.settings.command:
            self.settings.require_command()
        else:
            self.settings.require_address()

    def open(self, proxy: Proxy | None = None) -> System:
        return McpSystem(self.settings, self.tenant, proxy)


class McpSystem(CalledSystem[Tool]):
    """A session of the protocol, in an event loop of its own on a thread of its own.

    A session belongs to the loop that it was opened in; an arm is asked from any.
    """

    __slots__ = (
        "_client", "_ended", "_failure", "_home", "_http", "_loop", "_owner", "_serving",
        "_settings", "_share", "_thread",
    )  # fmt: skip

    def __init__(self, settings: McpSettings, tenant: str, proxy: Proxy | None = None) -> None:
        super().__init__(settings, tenant)
        self._settings, self._owner = settings, os.getpid()
        self._failure, self._ended = "", threading.Event()
        self._http: BoundedClient | None = None
        self._share = Share(
            settings.address,
            tenant,
            apart=bool(settings.command) or settings.apart,
            seconds=settings.timeout_seconds,
        )
        self._home = Home(settings, proxy) if settings.command else None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mcp", daemon=True)
        try:
            self._thread.start()
        except BaseException:
            self._loop.close()
            self._let_go()
            raise
        opened: Future[Client] = Future()
        self._serving = asyncio.run_coroutine_threadsafe(self._serve(opened), self._loop)
        try:
            with self._told("start"):
                self._client = opened.result(settings.timeout_seconds)
            if settings.address and settings.reset is not None:
                self.reset()
        except BaseException:
            self.close()
            raise

    async def _serve(self, opened: Future[Client]) -> None:
        """Hold the session open until this is cancelled: it is left by the task that entered it."""
        from mcp import Client

        # Past our own deadline, which is the one that is told.
        patience = self._settings.timeout_seconds + 5
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what fails is told by the call
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # an address may have a key
        try:
            async with (
                self._server() as server,
                Client(server, read_timeout_seconds=patience) as client,
            ):
                opened.set_result(client)
                await asyncio.Event().wait()
        except Exception as error:
            if not opened.done():
                opened.set_exception(error)
        finally:
            self._ended.set()

    @asynccontextmanager
    async def _server(self) -> AsyncIterator[Any]:
        if self._home is None:
            from mcp.client.streamable_http import streamable_http_client

            from plugins.archs.external._bounded import BoundedClient

            headers = fill(self._settings.headers, {})
            patience = self._settings.timeout_seconds
            async with BoundedClient(headers=headers, timeout=patience) as http:
                self._http = http
                yield streamable_http_client(self._settings.reached(), http_client=http)
            return
        from mcp import StdioServerParameters, stdio_client

        command, *words = self._home.command
        with os.fdopen(self._home.errors(), "w") as errors:
            yield stdio_client(
                StdioServerParameters(
                    command=command,
                    args=words,
                    env=self._home.environment,
                    cwd=self._home.path,
                ),
                errlog=errors,
            )

    def tools(self) -> list[str]:
        with self._told("tools"):
            return sorted(tool.name for tool in self._wait(self._client.list_tools()).tools)

    def close(self) -> None:
        if self._owner != os.getpid() or self._loop.is_closed():
            return
        self._serving.cancel()
        self._ended.wait(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        if not self._thread.is_alive():
            self._loop.close()
        self._let_go()

    def _let_go(self) -> None:
        if self._home is not None:
            self._home.close()
        self._share.close()

    def _call(self, what: str, call: Tool, values: Mapping[str, Any]) -> dict[str, Any]:
        with self._share.asked(), self._told(what):
            result = self._wait(self._client.call_tool(call.tool, fill(call.arguments, values)))
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        if result.is_error:
            raise SystemFailed(f"{what}: {call.tool}: {self._secrets.hide(text)[:200]}")
        answer: dict[str, Any] = {"text": text}
        if result.structured_content is not None:
            answer["structured"] = result.structured_content
        with suppress(ValueError):
            answer["json"] = read_json(text)
        return answer

    def _wait(self, asked: Coroutine[Any, Any, T]) -> T:
        if self._ended.is_set() or self._loop.is_closed():
            asked.close()
            raise SystemFailed("it has ended before")
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result(
            self._settings.timeout_seconds
        )

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """What the protocol's errors become: SystemFailed, the first of them kept."""
        try:
            if self._failure:
                raise SystemFailed(f"it has ended before: {self._failure}")
            yield
        except SystemFailed as failed:
            raise SystemFailed(f"{what}: {failed}") from None
        except Exception as error:
            slow = isinstance(error, TimeoutError)
            said = f"no answer within {self._settings.timeout_seconds:g} s" if slow else _why(error)
            if self._settings.address:
                refused = self._http.refused if self._http is not None else 0
                status = f"status {refused}: " if refused and not slow else ""
                said = f"{status}{said} ({self._settings.address})"
            told = SystemFailed(self._secrets.hide(f"{what}: {said}"))
            if self._home is not None:
                told = self._home.failed(str(told))
            self._failure = str(told)
            raise told from None


def _why(error: BaseException) -> str:
    """What went wrong, by the innermost error of a group: task groups wrap what they raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
