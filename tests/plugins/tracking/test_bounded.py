"""A tracking server's answers are bounded: nothing compressed, nothing without an end."""

from __future__ import annotations

import json
import resource
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from framework.errors import TrackingError
from plugins.tracking import _server

ASKED: list[str] = []
"""The cookies of every request."""
FOUND = {"experiment": {"experiment_id": "7", "name": "e", "lifecycle_stage": "active"}}


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server with one answer to whatever is asked but its health."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            health = self.path == "/health"
            ASKED.append(self.headers.get("Cookie", ""))
            with suppress(OSError):
                self.send_response(200)
                for name, value in ({} if health else request.param[0]).items():
                    self.send_header(name, value)
                self.end_headers()
                for part in () if health else request.param[1]():
                    self.wfile.write(part)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def bomb() -> Iterator[bytes]:
    """512 MB in half a megabyte."""
    packing = zlib.compressobj(wbits=31)
    for _ in range(512):
        yield packing.compress(b" " * 2**20)
    yield packing.flush()


def endless() -> Iterator[bytes]:
    while True:
        yield b" " * 2**20


@pytest.mark.parametrize(
    ("served", "told"),
    [
        (({"Content-Encoding": "gzip"}, bomb), "an answer that is compressed"),
        (({}, endless), "an answer of more than 67,108,864 bytes"),
    ],
    indirect=["served"],
)
def test_an_answer_that_could_grow_to_any_size_is_refused(served: str, told: str) -> None:
    import mlflow.tracking  # noqa: F401  # its memory is not what is measured

    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(TrackingError, match=told), _server.connect(served, "e"):
        pass
    assert time.monotonic() - began < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**18, "KiB"


@pytest.mark.parametrize(
    "served", [({"Set-Cookie": "node=3"}, lambda: [json.dumps(FOUND).encode()])], indirect=True
)
def test_an_answer_is_read_as_before_and_its_cookie_kept(served: str) -> None:
    for _ in range(2):
        with _server.connect(served, "e") as server:
            assert server.experiment_id == "7"
    assert ASKED[-1] == "node=3"
