"""A tracking server that drips holds nobody: every call has a deadline by our clock."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from framework.errors import TrackingError
from plugins.tracking import _deadline, _server
from plugins.tracking._deadline import Deadlined


@pytest.fixture
def dripping() -> Iterator[str]:
    """A server that sends a header for twenty seconds, a byte at a time."""

    def drip(wire: socket.socket) -> None:
        with wire, suppress(OSError):
            wire.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            for _ in range(200):
                wire.sendall(b"x")
                time.sleep(0.1)

    def serve() -> None:
        with suppress(OSError):
            while True:
                wire, _ = server.accept()
                threading.Thread(target=drip, args=(wire,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def test_asking_whether_anyone_is_there_has_a_deadline(
    dripping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_server, "_PROBE_SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(TrackingError, match=f"{dripping} did not answer within 0.6 s"):
        _server.probe(dripping)
    assert time.monotonic() - began < 10


def test_every_call_of_the_client_has_a_deadline(
    dripping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setattr(_deadline, "CALL_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(TrackingError, match=r"it did not answer within 0\.5 s"):
        Deadlined(MlflowClient(dripping), "it").get_experiment_by_name("decisionbench")
    assert time.monotonic() - began < 10


def test_what_a_call_gives_or_raises_passes() -> None:
    class Client:
        def double(self, number: int) -> int:
            return 2 * number

    client = Deadlined(Client(), "it")
    assert client.double(number=4) == 8
    with pytest.raises(TypeError):
        client.double("a", "b")
