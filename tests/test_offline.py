"""The suite itself has no network: what conftest promises, held to it."""

from __future__ import annotations

import importlib.metadata
import socket
import subprocess
import sys
from pathlib import Path

import pytest

OUTSIDE = "192.0.2.1"  # TEST-NET-1: routed nowhere


def test_connections_beyond_the_machine_are_refused() -> None:
    with socket.socket() as s, pytest.raises(RuntimeError, match="no network"):
        s.connect((OUTSIDE, 80))
    with socket.socket() as s, pytest.raises(RuntimeError, match="no network"):
        s.connect_ex((OUTSIDE, 80))
    with (
        socket.socket(type=socket.SOCK_DGRAM) as s,
        pytest.raises(RuntimeError, match="no network"),
    ):
        s.sendto(b"x", (OUTSIDE, 53))


def test_names_are_not_looked_up() -> None:
    with pytest.raises(RuntimeError, match="no network"):
        socket.getaddrinfo("example.org", 443)


def test_loopback_and_unix_sockets_work(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1])) as client,
    ):
        assert client.getpeername() == server.getsockname()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))


def test_child_processes_are_refused_too(tmp_path: Path) -> None:
    code = f"import socket; socket.create_connection(({OUTSIDE!r}, 80), timeout=1)"
    child = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert child.returncode == 1
    assert "NetworkBlocked" in child.stderr


def test_builtin_plugins_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = importlib.metadata.entry_points(group="decisionbench.plugins")
    assert {e.name: e.value for e in found}["builtin"] == "plugins"
