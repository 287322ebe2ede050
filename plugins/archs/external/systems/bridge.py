"""What a driver of a Python system needs: the protocol, the run's models, and a clock.

    import bridge                      # first: the clock is set before the system is imported
    bridge.serve(MyMemory())           # has write(event), retrieve(query, limit), reset()

It runs in the system's own environment, on the standard library alone. `bridge.BASE_URL` is where
the run's models are, by OpenAI's protocol: httpx and httpx2 reach it whatever client uses them, and
`bridge.post` does without either. Nothing else can be reached. Every date and time that Python code
asks for is the time of the last event written, a millisecond later with each request, so that no
prompt holds today's date.
"""

from __future__ import annotations

import datetime
import http.client
import importlib.util
import json
import os
import socket
import sys
import time
from datetime import UTC, timedelta, tzinfo
from datetime import date as _real_date
from datetime import datetime as _real_datetime
from typing import Any, Protocol

BASE_URL = "http://decisionbench/v1"
SOCKET = os.environ.get("DECISIONBENCH_SOCKET", "")
DIMENSION = int(os.environ.get("DECISIONBENCH_DIMENSION", "0"))
"""Length of the embedder's vectors; 0 where no embeddings are declared."""


class Memory(Protocol):
    """What `serve` asks."""

    def write(self, event: dict[str, Any]) -> None:
        """Take in an event: `id`, `text`, `tenant`, and `time`, `speaker`, ... where it has any."""

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Results, best first: `text`, and `id`, `score` where there are any."""

    def forget(self, event: dict[str, Any]) -> None:
        """Forget an event that was written, where the mapping says `forgets: true`."""

    def reset(self) -> None:
        """Forget everything."""


def serve(memory: Memory) -> None:
    """Answer JSON lines until the input ends. What the system prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        op = asked.pop("op")
        if op == "close":
            break
        try:
            answer = _answer(memory, op, asked)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()
    os._exit(0)  # whatever threads the system still has


def _answer(memory: Memory, op: str, asked: dict[str, Any]) -> dict[str, Any]:
    _tick(asked.get("time", ""))
    if op == "write":
        memory.write(asked)
        return {"ok": True}
    if op == "retrieve":
        return {"items": memory.retrieve(asked["query"], asked["limit"])}
    if op in ("forget", "reset"):
        getattr(memory, op)(*([asked] if op == "forget" else []))
        return {"ok": True}
    return {"error": f"no such request: {op}"}


# The clock ------------------------------------------------------------------------------------

_now = _real_datetime(2000, 1, 1, tzinfo=UTC)


def _tick(moment: str) -> None:
    """Go to an event's time, if it is later than now; a millisecond on in any case."""
    global _now
    try:
        given = _real_datetime.fromisoformat(moment)
    except ValueError:
        given = _now
    if given.tzinfo is None:
        given = given.replace(tzinfo=UTC)
    _now = max(_now, given) + timedelta(milliseconds=1)


class _Kind(type):
    """A date made by others is one too, and the class made here is what they are."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _real_datetime if cls is Datetime else _real_date)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _real_datetime if cls is Datetime else _real_date)


class Date(_real_date, metaclass=_Kind):
    """`datetime.date` by the history's clock."""

    @classmethod
    def today(cls) -> Date:
        """The day of the last event."""
        return cls(_now.year, _now.month, _now.day)


class Datetime(_real_datetime, metaclass=_Kind):
    """`datetime.datetime` by the history's clock."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Datetime:
        """The time of the last event, and a millisecond for each request."""
        there = _now.astimezone(tz) if tz is not None else _now.replace(tzinfo=None)
        return cls.combine(there.date(), there.timetz())

    @classmethod
    def today(cls) -> Datetime:
        """The same."""
        return cls.now()

    @classmethod
    def utcnow(cls) -> Datetime:
        """The same."""
        return cls.now()


def _set_clock() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    form, real = time.strftime, {name: getattr(time, name) for name in _OF_SECONDS}
    clock: dict[str, Any] = {name: _at_now(one) for name, one in real.items()}
    clock["time"] = lambda: _now.timestamp()
    clock["time_ns"] = lambda: int(_now.timestamp() * 1e6) * 1000
    clock["strftime"] = lambda text, when=None: form(text, when or clock["gmtime"]())
    for name, one in clock.items():
        setattr(time, name, one)
    for name, kind in (("datetime", Datetime), ("date", Date)):
        setattr(datetime, name, kind)


_OF_SECONDS = ("gmtime", "localtime", "ctime")


def _at_now(real: Any) -> Any:
    return lambda seconds=None: real(_now.timestamp() if seconds is None else seconds)


# The models -----------------------------------------------------------------------------------


class _Connection(http.client.HTTPConnection):
    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(SOCKET)


def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, as `post("embeddings", {"input": texts})`. Raises RuntimeError."""
    connection = _Connection("decisionbench")
    connection.request(
        "POST", f"/v1/{path}", json.dumps(body), {"Content-Type": "application/json"}
    )
    response = connection.getresponse()
    answer: dict[str, Any] = json.loads(response.read())
    connection.close()
    if response.status != 200:
        raise RuntimeError(answer["error"]["message"])
    return answer


def embed(texts: list[str]) -> list[list[float]]:
    """The run's vectors of texts."""
    return [one["embedding"] for one in post("embeddings", {"input": texts})["data"]]


def chat(messages: list[dict[str, str]], **options: Any) -> str:
    """What the run's model answers; options as `response_format` and `temperature`."""
    answer = post("chat/completions", {"messages": messages, **options})
    return str(answer["choices"][0]["message"]["content"] or "")


def _connect() -> None:
    """Every request of httpx and httpx2 goes to the socket, and takes as long as it takes."""
    os.environ.update(OPENAI_BASE_URL=BASE_URL, OPENAI_API_BASE=BASE_URL, OPENAI_API_KEY="none")
    for name in ("httpx", "httpx2"):
        if importlib.util.find_spec(name) is not None:
            library = importlib.import_module(name)
            for kind in (library.HTTPTransport, library.AsyncHTTPTransport):
                _through(kind)


def _through(kind: Any) -> None:
    begin = kind.__init__
    named = "handle_async_request" if "Async" in kind.__name__ else "handle_request"
    handle = getattr(kind, named)

    def begun(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs.update(uds=SOCKET, proxy=None, verify=False, trust_env=False)
        begin(self, *args, **kwargs)

    def patient(self: Any, request: Any) -> Any:
        request.extensions = {**request.extensions, "timeout": {}}  # a model may be waited for
        return handle(self, request)

    kind.__init__ = begun
    setattr(kind, named, patient)


_set_clock()
if SOCKET:
    _connect()
