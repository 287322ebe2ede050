"""A local model server for tests: both providers' wire protocols, rule-based answers, told faults.

It answers `POST /v1/messages` (Anthropic), `/v1/chat/completions` and `/v1/embeddings` (OpenAI) by
real HTTP on this machine, batches of these too (`framework.testing.batches`), and counts what it
served. What it says it learns beforehand, from a dry run of the run (`framework.models.dry_run`),
so its answers are those of the rule-based model; vectors are hashed words, as they are in the dry
run::

    with ModelServer(dry_run.answers, faults=Faults(rates={"429": 0.1, "cut": 0.1})) as server:
        ...  # model=openai model.base_url={server.url}/v1
    print(server.counts)

As a program, `python -m framework.testing.server domain=loan arch=bm25 n_cases=20` dry-runs that
run (or sweep, with -m) and serves it until interrupted.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from framework.models.dry_run import likely_tokens, prompt_key
from framework.testing.batches import BatchDesk
from framework.testing.wire import READ, Asked, answered, error, vectors
from framework.text.counting import counted

Answer = Callable[[str, str, str], str | None]
"""(operation, system, user) to the text of an answer; None where there is none."""

KINDS: Final = (
    "late", "429", "500", "529", "cut", "close", "malformed", "refuse", "too_long",
)  # fmt: skip
"""Faults: a late answer; turned away; a body cut off; the connection closed; an answer that is no
JSON; a refusal; an answer cut at `max_tokens`."""
_TURNED_AWAY: Final = {"429": "rate_limit_error", "500": "api_error", "529": "overloaded_error"}
_LOST: Final = frozenset({"cut", "close"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Which share of calls meets which fault (see `KINDS`), in [0, 1] and together at most 1.

    What a call meets depends on its request, how often it was sent before, and `seed`. late_s,
    retry_after_s : seconds.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    late_s: float = 0.2
    retry_after_s: float = 0.05

    def __post_init__(self) -> None:
        unknown = self.rates.keys() - set(KINDS)
        if unknown or sum(self.rates.values()) > 1:
            raise ValueError(f"faults: {sorted(unknown) or 'more than 1 together'}")

    def of(self, request: str, attempt: int) -> str:
        """The fault that the attempt number `attempt` of a request meets, empty for none."""
        hashed = hashlib.sha256(f"{self.seed}:{request}:{attempt}".encode()).digest()
        place = int.from_bytes(hashed[:8]) / 2**64
        for kind, rate in self.rates.items():
            place -= rate
            if place < 0:
                return kind
        return ""


@dataclass(slots=True)
class Counts:
    """What was served: answers that were sent whole, those lost on the way, and those turned away.

    begun : requests that came, answered yet or not. most_at_once : the most that waited together.
    requests : whole answers by request; one that is above 1 was paid for twice.
    """

    begun: int = 0
    under_way: int = 0
    most_at_once: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    lost: int = 0
    turned_away: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)


class ModelServer:
    """The server, in a thread of its own; a context manager. `url` is its address without path.

    answers : text by `prompt_key`, or a function of operation, system and user. Turns that follow
    the first (a repair) get the answer to the first. delay_s : before every answer. tokens : how it
    counts them in a text. dimension : length of the vectors that it gives. held : while it says so
    of what was served, nothing is answered; a test waits by it for what happens and not for time.
    A request without an answer is a mistake of the test: status 400, which is never tried again.
    """

    def __init__(
        self,
        answers: Mapping[str, str] | Answer,
        *,
        faults: Faults | None = None,
        delay_s: float = 0.0,
        port: int = 0,
        tokens: Callable[[str], int] = likely_tokens,
        dimension: int = 64,
        held: Callable[[Counts], bool] = lambda counts: False,
    ) -> None:
        self._answer: Answer = (
            answers
            if callable(answers)
            else lambda _, system, user: answers.get(prompt_key(system, user))
        )
        self._port = port
        self._tokens = tokens
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._attempts: Counter[str] = Counter()
        self._prefixes: set[str] = set()
        self.faults = faults or Faults()
        self.delay_s = delay_s
        self.dimension = dimension
        self.held = held
        self.counts = Counts()
        self.batches = BatchDesk(self._serve_one)
        self.url = ""

    def __enter__(self) -> ModelServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join(10)

    def _run(self, ready: threading.Event) -> None:
        asyncio.run(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        open_: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            open_.add(task)
            try:
                await self._talk(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # the client hung up, or the server is stopping
            finally:
                open_.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", self._port, limit=2**24)
        self._port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        ready.set()
        await self._stop.wait()
        server.close()
        for task in open_:
            task.cancel()
        await asyncio.gather(*open_, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Requests of one connection, in turn."""
        while True:
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            except asyncio.IncompleteReadError:
                return
            line, *rest = head.split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (h.partition(":") for h in rest)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.counts.keys.add(headers.get("x-api-key") or headers.get("authorization", ""))
            path = line.split(" ")[1]
            fault = ""
            if (known := self.batches.reply(self.url, path, body)) is not None:
                status, reply = known
            else:
                status, reply, fault = await self._reply(path, body)
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            if fault == "close":
                return
            retry = f"retry-after: {self.faults.retry_after_s:g}\r\n" if status == 429 else ""
            writer.write(
                f"HTTP/1.1 {status} -\r\ncontent-type: application/json\r\n"
                f"content-length: {len(data)}\r\n{retry}\r\n".encode()
            )
            if fault == "cut":
                writer.write(data[: len(data) // 2])
                await writer.drain()
                return
            writer.write(data)
            await writer.drain()

    async def _reply(self, path: str, data: bytes) -> tuple[int, dict[str, Any], str]:
        read = READ.get(path)
        if read is None:
            return 404, error("not_found_error", path), ""
        asked = read(json.loads(data), self._tokens)
        request = hashlib.sha256(data).hexdigest()
        fault = self.faults.of(request, self._attempts[request])
        self._attempts[request] += 1
        self.counts.begun += 1
        if fault:
            self.counts.faults[fault] += 1
        self.counts.under_way += 1
        self.counts.most_at_once = max(self.counts.most_at_once, self.counts.under_way)
        while self.held(self.counts):
            await asyncio.sleep(0.005)
        await asyncio.sleep(self.delay_s + (self.faults.late_s if fault == "late" else 0.0))
        self.counts.under_way -= 1
        return self._answered(asked, request, fault)

    def _serve_one(self, path: str, data: bytes) -> tuple[int, dict[str, Any]]:
        """One request of a batch; of faults it meets only those that turn it away."""
        request = hashlib.sha256(data).hexdigest()
        fault = self.faults.of(request, self._attempts[request])
        self._attempts[request] += 1
        fault = fault if fault in _TURNED_AWAY else ""
        asked = READ[path](json.loads(data), self._tokens)
        return self._answered(asked, request, fault)[:2]

    def _answered(self, asked: Asked, request: str, fault: str) -> tuple[int, dict[str, Any], str]:
        if fault in _TURNED_AWAY:
            self.counts.turned_away += 1
            return int(fault), error(_TURNED_AWAY[fault], "told to"), fault
        embeds = asked.protocol == "embeddings"
        text = "" if embeds else self._answer(asked.operation, asked.system, asked.user)
        if text is None:
            told = "no such prompt in the run or sweep that this server was started with"
            return 400, error("invalid_request_error", told), ""
        if fault in ("malformed", "too_long"):
            text = text[: len(text) // 2]
        if fault == "refuse":
            text = ""
        tokens_out = self._tokens(text)
        if fault in _LOST:
            self.counts.lost += 1
        else:
            self.counts.calls += 1
            self.counts.tokens_in += asked.tokens_in
            self.counts.tokens_out += tokens_out
            self.counts.requests[request] += 1
        kept = bool(asked.prefix) and asked.prefix in self._prefixes
        self._prefixes.add(asked.prefix)
        if embeds:
            return 200, vectors(asked, self.dimension, fault), fault
        return 200, answered(asked, text, tokens_out, fault, kept), fault


_USAGE: Final = """usage: python -m framework.testing.server [--port=PORT] [-m] [OVERRIDE ...]

Dry-runs the run or sweep of these overrides (as `decisionbench` takes them), serves its answers by
both providers' protocols until interrupted, and prints the settings that ask it."""


def main(argv: Sequence[str]) -> int:
    """Dry-run the run or sweep of these overrides and serve its answers until interrupted."""
    from framework.engine.dry_run import dry_run_of
    from framework.errors import UserError

    if {"-h", "--help"} & set(argv):
        print(_USAGE)
        return 0
    port = next((int(a.partition("=")[2]) for a in argv if a.startswith("--port=")), 0)
    given = [a for a in argv if not a.startswith("--port=")]
    if not any(a.startswith("model=") for a in given):
        given.append("model=openai")  # the rule-based model asks nothing
    try:
        dry_run = dry_run_of(given)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with ModelServer(dry_run.answers, port=port) as server:
        print(f"{counted(len(dry_run.answers), 'request')} answered", file=sys.stderr)
        print(f"model=anthropic model.base_url={server.url}")
        print(f"model=openai model.base_url={server.url}/v1", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(f"served {counted(server.counts.calls, 'call')}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
