"""What carries a system's model calls: OpenAI's protocol on a UNIX socket, answered by the run.

    system --HTTP over the socket--> Proxy --the run's event loop--> client, embedder of the run

So a call is cached, metered on the phase under way and held to the run's caps like any other, and
nothing else can be reached: a socket in the file system is all that the system may open.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextvars import Context, copy_context
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, Final

from framework.contracts import ArchContext, maybe_await
from framework.models.carrier import carried
from framework.text.reading import read_json
from framework.text.tokens import count_tokens
from plugins.archs.external._chat import ChatAnswer, ChatRequest, SystemChat
from plugins.archs.external._mapping import SystemFailed
from plugins.archs.external._settings import Models

HOST: Final = "decisionbench"
"""The only host that a request may name."""
_MOST_BYTES: Final = 16 * 2**20
_LONGEST: Final = 600.0
"""Seconds that a call may take after the operation that it began in has ended."""
_MODEL: Final = "run"
_PATH: Final = 90
"""Bytes from which on the system may refuse a socket's path."""


@dataclass(frozen=True, slots=True)
class _Asker:
    """On whose behalf calls are made now: where they run, and what they are booked on."""

    loop: asyncio.AbstractEventLoop
    context: Context
    searching: bool


class _Refused(Exception):
    """A request that is not carried."""


class Proxy:
    """A server on a socket in a folder of its own, for one system.

    What a call raises fails the whole operation of the memory that it belongs to, whatever the
    system makes of it: a memory whose calls failed would be measured as if it had meant it.
    """

    def __init__(self, models: Models, context: ArchContext) -> None:
        self._models, self._context = models, context
        place = tempfile.gettempdir()
        self.folder = Path(
            tempfile.mkdtemp(prefix="memory-", dir=place if len(place) < _PATH - 24 else "/tmp")
        )
        self.socket = self.folder / "models"
        self._turn, self._guard = threading.Lock(), threading.Condition()
        self._asker: _Asker | None = None
        self._under_way: set[Future[Any]] = set()
        self._failure: BaseException | None = None
        self._owner = os.getpid()
        self.stop: Callable[[], None] = lambda: None
        """Ends the system; called once a call of its has failed."""
        try:
            self._server = _Server(str(self.socket), _Handler)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self._server.carry = self._carry
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="models", daemon=True
        )
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """What the system has to know: where the socket is, and how long vectors are."""
        found = {"DECISIONBENCH_SOCKET": str(self.socket)}
        if self._models.embeddings and self._context.embedder is not None:
            found["DECISIONBENCH_DIMENSION"] = str(self._context.embedder.dimension)
        return found

    @contextlib.contextmanager
    def serving(self, loop: asyncio.AbstractEventLoop, *, searching: bool) -> Iterator[None]:
        """Around one operation: calls of the system are run in `loop`, and booked as it is here.

        It lasts until the calls that began in it have ended, so that they are booked; those of an
        operation that failed are cancelled. Raises what one of them raised.
        """
        with self._turn:
            with carried():
                self._asker = _Asker(loop, copy_context(), searching)
            try:
                yield
                self._end(cancel=False)
            except BaseException as error:
                self._end(cancel=True)
                if self._failure is None or not isinstance(error, SystemFailed):
                    raise
            if self._failure is not None:
                raise self._failure

    def _end(self, *, cancel: bool) -> None:
        """Let no call begin any more, and wait for those under way, or cancel them.

        Raises SystemFailed where one is still under way long after its operation.
        """
        with self._guard:
            self._asker = None
            under_way = list(self._under_way)
        if cancel:
            for future in under_way:
                future.cancel()
        with self._guard:
            if not self._guard.wait_for(lambda: not self._under_way, _LONGEST):
                raise SystemFailed(f"models: a call takes more than {_LONGEST:g} s")

    def close(self) -> None:
        """End the server and what is under way."""
        if self._owner != os.getpid():
            return
        with self._guard:
            under_way = list(self._under_way)
        for future in under_way:
            future.cancel()
        self._server.shutdown()
        self._server.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _carry(self, what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a request; what fails, fails the operation under way."""
        try:
            return self._asked(what, body)
        except BaseException as error:
            if self._failure is None:
                refused = isinstance(error, _Refused)
                self._failure = SystemFailed(f"models: {error}") if refused else error
                threading.Thread(target=self.stop, daemon=True).start()
            raise

    def _asked(self, what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = {"POST chat/completions": self._chat, "POST embeddings": self._embed}.get(what)
        if what == "GET models":
            return {"object": "list", "data": [{"id": _MODEL, "object": "model"}]}
        if answer is None:
            raise _Refused(f"{what} is not carried; POST chat/completions and embeddings are")
        with self._guard:
            asker = self._asker
            if asker is None:
                raise _Refused(f"{what} outside of write and search: on whom to book it?")
            call = answer(body, asker.searching)
            future = asker.context.copy().run(asyncio.run_coroutine_threadsafe, call, asker.loop)
            self._under_way.add(future)
        try:
            return future.result()
        except CancelledError:
            raise _Refused("it was closed") from None
        finally:
            with self._guard:
                self._under_way.discard(future)
                self._guard.notify_all()

    def _chat(
        self, body: Mapping[str, Any], searching: bool
    ) -> Coroutine[Any, Any, Mapping[str, Any]]:
        if not self._models.chat:
            raise _Refused("it asks a language model, which its mapping does not declare")
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
            raise _Refused("chat/completions: messages: a list of objects expected")
        for key, plain in (("stream", (None, False)), ("n", (None, 1))):
            if body.get(key) not in plain:
                raise _Refused(f"chat/completions: {key}={body[key]!r} is not carried")
        return self._completion(body)

    async def _completion(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        operation, request = SystemChat(), ChatRequest(body=body)
        answer: ChatAnswer = await self._context.client.ask(operation, request)
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.tool_calls:
            message |= {"content": answer.text or None, "tool_calls": answer.tool_calls}
        choice = {"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}
        told, said = count_tokens(operation.prompt(request).text), count_tokens(answer.text)
        return {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model") or _MODEL,
            "choices": [choice],
            "usage": _usage(told, said),
        }

    def _embed(
        self, body: Mapping[str, Any], searching: bool
    ) -> Coroutine[Any, Any, Mapping[str, Any]]:
        if not self._models.embeddings:
            raise _Refused("it asks for embeddings, which its mapping does not declare")
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise _Refused("embeddings: input: a text or a list of texts expected")
        embedder = self._context.embedder
        assert embedder is not None
        if body.get("dimensions") not in (None, embedder.dimension):
            raise _Refused(
                f"embeddings: {body['dimensions']} dimensions asked for, and the run's embedder "
                f"has {embedder.dimension}"
            )
        return self._vectors(texts, body, searching)

    async def _vectors(
        self, texts: list[str], body: Mapping[str, Any], searching: bool
    ) -> Mapping[str, Any]:
        embedder = self._context.embedder
        assert embedder is not None
        rows = await maybe_await((embedder.embed_queries if searching else embedder.embed)(texts))
        coded = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": i,
                "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode()
                if coded
                else [float(value) for value in row],
            }
            for i, row in enumerate(rows)
        ]
        told = sum(map(count_tokens, texts))
        named = body.get("model") or _MODEL
        return {"object": "list", "data": data, "model": named, "usage": _usage(told, 0)}


def _usage(told: int, said: int) -> dict[str, int]:
    return {"prompt_tokens": told, "completion_tokens": said, "total_tokens": told + said}


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
    carry: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A system that was ended leaves its connections open: nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._answer("GET", {})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MOST_BYTES:
            self.close_connection = True
            self._say(413, {"error": {"message": f"more than {_MOST_BYTES:,} bytes"}})
            return
        try:
            body = read_json(self.rfile.read(length) or b"{}")
        except ValueError:
            body = None
        self._answer("POST", body if isinstance(body, dict) else {})

    def _answer(self, method: str, body: Mapping[str, Any]) -> None:
        path = self.path.partition("?")[0].removeprefix(f"http://{HOST}")
        host = (self.headers.get("Host") or "").partition(":")[0]
        what = path.strip("/").removeprefix("v1/")
        try:
            if host != HOST:
                what = f"to another host, {host!r}:"
            self._say(200, self.server.carry(f"{method} {what}", body))
        except BaseException as error:  # told to the system; the arm raises it
            self._say(400, {"error": {"message": str(error), "type": type(error).__name__}})

    def _say(self, status: int, answer: Mapping[str, Any]) -> None:
        said = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(said)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the run keeps its own log."""

    def address_string(self) -> str:
        return "system"
