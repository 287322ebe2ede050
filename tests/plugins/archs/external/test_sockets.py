"""Clients other than httpx reach the run's models, and no other host is taken for them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer

import pytest

from plugins.archs.external._settings import SYSTEMS

ASK = {
    "urllib": """
from urllib.request import Request, urlopen
print(urlopen(Request("http://decisionbench/v1/models", b"{}")).read().decode())
""",
    "asyncio": """
import asyncio
async def ask():
    reader, writer = await asyncio.open_connection("decisionbench", 80)
    writer.write(b"POST /v1/models HTTP/1.0\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
    print((await reader.read()).decode().split()[-1])
asyncio.run(ask())
""",
    "nodelay": """
import socket
connection = socket.create_connection(("decisionbench", 80))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
connection.sendall(b"POST /v1/models HTTP/1.0\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
print(connection.makefile().read().split()[-1])
""",
}


class Answer(BaseHTTPRequestHandler):
    """Says `here` to everything."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"here")

    def address_string(self) -> str:
        return "a socket"

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def path() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:  # short: a socket's path has 107 characters
        path = str(Path(folder) / "models")
        with ThreadingUnixStreamServer(path, Answer) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield path
            server.shutdown()


def said(code: str, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import sockets\n{code}"],
        env={**os.environ, "DECISIONBENCH_SOCKET": path, "PYTHONPATH": str(SYSTEMS)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("client", ASK)
def test_a_client_reaches_the_socket(client: str, path: str) -> None:
    done = said(ASK[client], path)
    assert done.stdout.strip() == "here", done.stderr


def test_another_host_is_looked_up_as_ever(path: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; print(socket.create_connection(('127.0.0.1', {port})).family.name)"
        assert said(code, path).stdout.strip() == "AF_INET"
