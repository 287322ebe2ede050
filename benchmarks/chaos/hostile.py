"""A server that does harm: it has one answer to everybody, in the words of every provider."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A server on this machine with one answer to every POST; nothing else is there."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
            with suppress(OSError):  # the client has gone
                answer(self)

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def body_of(text: str, usage: Mapping[str, Any] | None = None) -> bytes:
    """One answer in both providers' protocols at once."""
    said: dict[str, Any] = {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "model": "m",
        "usage": usage,
    }
    if usage is None:
        del said["usage"]
    return json.dumps(said).encode()


def usage_of(tokens_in: Any, tokens_out: Any) -> dict[str, Any]:
    """What a server says of tokens, in both providers' words."""
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
    }


def sends(body: bytes, status: int = 200, **headers: str) -> Answer:
    """An answer of these bytes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def says(text: str, tokens_in: Any = 400, tokens_out: Any = 20) -> Answer:
    """A well-formed answer with this text."""
    return sends(body_of(text, usage_of(tokens_in, tokens_out)))


def answers(answer: str, evidence: str = "") -> Answer:
    """An answer to a question over passages."""
    return says(json.dumps({"answer": answer, "evidence": evidence}))


def drips(handler: BaseHTTPRequestHandler) -> None:
    """A byte every tenth of a second, for twenty seconds."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def never_ends(handler: BaseHTTPRequestHandler) -> None:
    """A body without an end, as fast as it is taken."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 2**20)


packed = sends(gzip.compress(b" " * 2**26), Content_Encoding="gzip")
"""64 MB in a few KB."""

BODIES: Mapping[str, bytes] = {
    "no text": b"\xff\xfe\xff",
    "nested": b"[" * 100_000,
    "nested and closed": b"[" * 100_000 + b"]" * 100_000,
    "a number": b"7",
    "an array": b"[]",
    "nothing": b"",
}
"""Bodies that are no answer."""


def redirects(to: str, status: int = 307) -> Answer:
    """A redirect to another address."""
    return sends(b"", status, Location=to)
