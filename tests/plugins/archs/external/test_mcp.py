"""A memory behind the Model Context Protocol: the same laws, canaries and ends as any system's."""

from __future__ import annotations

import importlib.util
import logging
import resource
import socket
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from framework.errors import UserError
from framework.registry import find, settings_of
from framework.testing.arch_conformance import ask, check_arch, history, open_arch
from plugins.archs.external._mapping import SystemFailed
from plugins.archs.external.canaries import Canaries, check
from plugins.archs.external.mcp import McpMemory, McpSettings
from tests.plugins.archs.external.systems import HERE
from tests.plugins.archs.external.toy import Toy

MAPPING: dict[str, Any] = {
    "write": {"tool": "remember", "arguments": {"content": "{text}", "key": "{id}"}},
    "search": {"tool": "look_up", "arguments": {"words": "{query}", "most": "{limit}"}},
    "reset": {"tool": "forget_all"},
    "answer": {"items": "structured.hits", "text": "text", "id": "id"},
}


def settings(*words: str, **given: Any) -> McpSettings:
    command = [sys.executable, "-S", "-E", str(HERE / "server.py"), *words]
    made = settings_of(find("arch", "mcp"), {"command": command, **MAPPING, **given})
    assert isinstance(made, McpSettings)
    return made


@pytest.mark.slow
def test_it_keeps_the_laws_of_an_arm() -> None:
    check_arch(McpMemory, settings())


@pytest.mark.slow
def test_it_passes_the_canaries() -> None:
    found = {f.name: f for f in Canaries().run(McpMemory, settings(), False)}
    assert [(name, f.text) for name, f in found.items() if f.passed is False] == []
    assert found["tools"].text == "forget_all, look_up, remember"


@pytest.mark.parametrize(
    ("fault", "name"), [("ignored_limit", "limit"), ("swapped_ids", "ids"), ("deaf_reset", "reset")]
)
def test_a_fault_is_caught_by_name(fault: str, name: str) -> None:
    assert check(name, McpMemory, settings("--fault", fault)).passed is False


def test_a_text_that_is_json_can_be_read_too() -> None:
    given = settings(answer={"items": "json.hits", "id": "id"})
    items = ask(open_arch(McpMemory, given, history()), history(), 2, "credit score")
    assert [item.source_ids for item in items] == [("e1",), ("e3",)]
    lines = settings(answer={"items": "text"})
    (item,) = ask(open_arch(McpMemory, lines, history()), history(), 2, "deposit sale")
    assert item.source_ids == ("e9",)
    assert 0.5 <= item.signals["traced"] < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("crash", "search: .*: out of memory"),
        ("hang", r"search: no answer within 1 s"),
        ("flood", "search: .*it wrote more than 16,777,216 bytes"),
    ],
)
def test_what_fails_says_so_and_the_next_history_starts_again(fault: str, said: str) -> None:
    given = settings("--fault", fault, timeout_seconds=20.0 if fault == "flood" else 1.0)
    for _ in range(2):
        instance = open_arch(McpMemory, given, history())
        with pytest.raises(SystemFailed, match=said):
            ask(instance, history())
        with pytest.raises(SystemFailed, match="it has ended before"):
            ask(instance, history())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"write": {"tool": "store", "arguments": {"x": "{text}"}}}, "write: store: bad call of"),
        ({"command": ["sh", "-c", "echo no disk >&2; exit 3"]}, "start: .*no disk"),
    ],
)
def test_a_call_that_is_refused_is_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SystemFailed, match=said):
        open_arch(McpMemory, settings(**given), history())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"command": []}, r"arch\.command: a command or an address is required"),
        ({"address": "http://127.0.0.1:9/mcp"}, "and not both"),
        ({"command": [], "address": "127.0.0.1:9/mcp"}, r"arch\.address: .* http\(s\)://host"),
        (
            {"command": [], "address": "http://127.0.0.1:9/mcp?apiKey=mine-0123456789"},
            r"arch\.address: apiKey: a mapping is stored, so a key comes from the environment",
        ),
        (
            {"write": {"tool": "t", "arguments": {"x": "{text}", "token": "mine-0123456789"}}},
            r"arch\.write: token: a mapping is stored",
        ),
        ({"answer": None}, r"arch\.answer: it has to be declared"),
        ({"search": {"tool": "s", "arguments": {"q": "{text}"}}}, r"search: no placeholder \{text"),
        ({"reset": None, "command": [], "address": "http://127.0.0.1:9/mcp"}, "reset: a server"),
    ],
)
def test_a_mistake_in_a_mapping_is_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        open_arch(McpMemory, settings(**given), ())


def test_a_key_is_in_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "not-a-key-12345678")
    key = {"K": "{env.MY_KEY}"}
    write = {"tool": "no_not-a-key-12345678", "arguments": {"text": "{text}"}}
    given = settings(write=write, environment=key)
    with pytest.raises(SystemFailed, match=r"write: no_\*\*\*: bad call of no_\*\*\*$"):
        open_arch(McpMemory, given, history())
    command = ["sh", "-c", "echo no $K >&2; exit 3"]
    with pytest.raises(SystemFailed, match=r"start: .*no \*\*\*$"):
        open_arch(McpMemory, settings(command=command, environment=key), history())


def test_without_the_package_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'decisionbench\[mcp\]'"):
        open_arch(McpMemory, settings(), ())


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server over HTTP by the SDK, with a store for each `who`."""
    import uvicorn
    from mcp.server.mcpserver import MCPServer

    stores: dict[str, Toy] = {}
    server = MCPServer("toy")

    @server.tool()
    def remember(content: str, key: str, who: str) -> str:
        stores.setdefault(who, Toy()).write({"id": key, "text": content})
        return "stored"

    @server.tool()
    def look_up(words: str, most: int, who: str) -> dict[str, Any]:
        return {"hits": stores.setdefault(who, Toy()).search(words, most)}

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
        served = uvicorn.Server(config)
        thread = threading.Thread(target=served.run, args=([listening],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        served.should_exit = True
        thread.join(10)


@pytest.mark.slow
def test_a_running_server_is_reached_by_its_address(address: str) -> None:
    given = settings(
        command=[],
        address=address,
        headers={"X-Key": "k"},
        reset=None,
        **{
            name: {**MAPPING[name], "arguments": {**MAPPING[name]["arguments"], "who": "{tenant}"}}
            for name in ("write", "search")
        },
    )
    for name in ("answers", "recalls", "tenants", "fresh", "ids"):
        finding = check(name, McpMemory, given)
        assert finding.passed, finding.text
    gone = settings(**{**MAPPING, "command": [], "address": "http://127.0.0.1:9/mcp"})
    with pytest.raises(SystemFailed, match=r"start: ConnectError: .* \(http://127.0.0.1:9/mcp\)$"):
        open_arch(McpMemory, gone, history())


def test_a_key_in_the_address_comes_from_the_environment_and_is_told_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", "not a/key&12345678")
    asked: list[bytes] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                wire = listening.accept()[0]
                asked.append(wire.recv(65536))
                wire.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                wire.close()

    caplog.set_level(logging.INFO)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp?key={{env.MY_KEY}}"
        reset = MAPPING["reset"]
        given = settings(command=[], address=url, reset=reset, timeout_seconds=20)
        with pytest.raises(SystemFailed, match=r"start: status 404: .*env\.MY_KEY") as failed:
            open_arch(McpMemory, given, history())
    assert asked[0].startswith(b"POST /mcp?key=not%20a/key%2612345678 HTTP/1.1")
    assert "12345678" not in str(failed.value) + caplog.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "told"),
    [("packed", "start: ReadError: an answer that is compressed"), ("endless", "more than 67,108")],
)
def test_what_a_server_sends_is_bounded(what: str, told: str) -> None:
    packing = zlib.compressobj(wbits=31)
    parts = [packing.compress(b" " * 2**20) for _ in range(512)]
    bomb = b"".join([*parts, packing.flush()])  # 512 MB in half a megabyte

    def send(wire: socket.socket) -> None:
        wire.recv(65536)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        if what == "packed":
            head += b"Content-Encoding: gzip\r\n"
        with suppress(OSError):
            wire.sendall(head + b"\r\n")
            wire.sendall(bomb if what == "packed" else b"")
            while what == "endless":
                wire.sendall(b" " * 2**20)
        wire.close()

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=send, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        given = settings(command=[], address=url, timeout_seconds=100)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.monotonic()
        with pytest.raises(SystemFailed, match=told):
            open_arch(McpMemory, given, history())
        assert time.monotonic() - began < 60
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**18, "KiB"
