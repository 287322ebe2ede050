"""A memory in any language, asked by JSON lines on its standard input."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from framework.records import Event
from framework.registry import register
from framework.text.reading import read_json
from plugins.archs.external._mapping import EVENT, Found, SystemFailed, found_of, values_of
from plugins.archs.external._memory import ExternalMemory, System
from plugins.archs.external._program import Program
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import OPERATIONAL, CommandSettings

_GOODBYE_S: Final = 1.0
"""For a system that is told to close."""


@dataclass(frozen=True, kw_only=True)
class ProcessSettings(CommandSettings):
    """A program that speaks JSON lines. forgets : whether it knows the operation `forget`."""

    forgets: bool = field(default=False, metadata=OPERATIONAL)

    @property
    def deletion(self) -> Any:
        return self.forgets or None


@register("arch", "process")
class ProcessMemory(ExternalMemory[ProcessSettings]):
    """A third-party system in any language: JSON lines on its stdin and stdout (any-memory.md)."""

    def require(self) -> None:
        self.settings.require_command()

    @property
    def leaves_last(self) -> bool:
        # What a system says whose model calls end with the run may be made without them.
        return self.settings.models is None

    def open(self, proxy: Proxy | None = None) -> System:
        return LineSystem(self.settings, self.tenant, proxy, self.last)


class LineSystem:
    """A process that answers each line (a JSON object with `op`) by one line."""

    __slots__ = (
        "_closed",
        "_expected",
        "_failure",
        "_home",
        "_lock",
        "_process",
        "_program",
        "_seconds",
        "_tenant",
    )

    def __init__(
        self,
        settings: CommandSettings,
        tenant: str,
        proxy: Proxy | None = None,
        last: Path | None = None,
    ) -> None:
        self._tenant, self._seconds = tenant, settings.timeout_seconds
        self._lock = threading.Lock()
        self._closed, self._failure = False, ""
        self._expected = (b"", b"")
        self._program = Program(settings, proxy, last=last)
        self._home, self._process = self._program.home, self._program.process
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)

    def write(self, event: Event) -> None:
        self._do({"op": "write", **self._said(event)})

    def forget(self, event: Event, given: str) -> None:
        self._do({"op": "forget", **self._said(event)})

    def _said(self, event: Event) -> dict[str, Any]:
        told = values_of(event, self._tenant)
        return {k: told[k] for k in EVENT if told[k] not in (None, {})}

    def search(self, query: str, limit: int) -> list[Found]:
        answer = self._ask({"op": "retrieve", "query": query, "limit": limit})
        results = answer.get("items")
        if not isinstance(results, list) or not all(isinstance(r, dict) for r in results):
            there = sorted(answer)
            raise self._fail(f"retrieve: no list of objects as 'items' in the answer's {there}")
        for one in results:
            if "text" not in one:
                raise self._fail(f"retrieve: an item without 'text': it has {sorted(one)}")
            if wrong := _wrong(one):
                raise self._fail(f"retrieve: an item whose {wrong}")
        found = [found_of(r.get("text"), r.get("id"), r.get("score")) for r in results]
        return self._home.secrets.check(found)

    def expect(self, question: bytes, answer: bytes) -> None:
        with suppress(ValueError):  # no answer at all, which is not recorded either
            read = read_json(answer)
            if isinstance(read, dict) and "error" not in read:
                self._expected = (question, answer)

    def reset(self) -> None:
        self._do({"op": "reset"})

    def tools(self) -> list[str]:
        return ["write", "retrieve", "reset", "close"]

    def close(self) -> None:
        if not self._program.is_ours:
            return
        if self._lock.acquire(blocking=False):  # no call is under way
            try:
                if not (self._closed or self._failure):
                    self._say_goodbye()
            finally:
                self._lock.release()
        self._program.terminate()
        with self._lock:
            if not self._closed:
                self._closed = True
                self._program.end()

    def _say_goodbye(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            os.write(self._process.stdin.fileno(), b'{"op": "close"}\n')
            self._process.wait(_GOODBYE_S)

    def _fail(self, what: str) -> SystemFailed:
        failed = self._home.failed(what)
        self._failure = self._failure or str(failed)
        return failed

    def _do(self, request: Mapping[str, Any]) -> None:
        answer = self._ask(request)
        if answer.get("ok") is not True:
            there = f"'ok' is {answer['ok']!r}" if "ok" in answer else f"it has {sorted(answer)}"
            raise self._fail(f'{request["op"]}: the answer is not {{"ok": true}}: {there[:80]}')

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request. Raises SystemFailed, after which nothing more is asked."""
        op = str(request["op"])
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            if self._closed or self._failure:
                raise SystemFailed(f"{op}: it has ended before: {self._failure or 'closed'}")
            question, known = self._expected
            answer = known if line == question else self._exchange(line, op)
            self._expected = (b"", b"")
        try:
            read = read_json(answer)
        except ValueError:
            told = self._home.secrets.hide(answer.decode(errors="replace")).strip()
            shown = f"{told[:80]!r}; what is no answer belongs on standard error"
            raise self._fail(f"{op}: the answer is no JSON: {shown}") from None
        if not isinstance(read, dict) or "error" in read:
            said = read.get("error") if isinstance(read, dict) else "the answer is no JSON object"
            raise self._fail(f"{op}: {said}")
        if read.get("ok") is False:
            raise self._fail(f"{op}: refused: its answer says that it is not ok")
        return read

    def _exchange(self, line: bytes, op: str) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        to, out = self._process.stdin.fileno(), self._process.stdout.fileno()
        end, answer = time.monotonic() + self._seconds, bytearray()
        if select.select([out], [], [], 0)[0] and os.read(out, 80):
            raise self._fail(f"{op}: it spoke without being asked")
        while not answer.endswith(b"\n"):
            left = end - time.monotonic()
            ready = select.select([out], [to] if line else [], [], max(0.0, left))
            if left <= 0 or not (ready[0] or ready[1]):
                half = f", but {len(answer):,} bytes without a line's end" if answer else ""
                raise self._fail(f"{op}: no answer within {self._seconds:g} s{half}")
            if ready[1]:
                with contextlib.suppress(BrokenPipeError):  # what it said last is still to be read
                    line = line[os.write(to, line) :]
            if ready[0]:
                data = os.read(out, 1 << 16)
                if not data:
                    status = self._process.wait()
                    raise self._fail(f"{op}: it ended with status {status}")
                answer += data
        return bytes(answer)


def _wrong(item: Mapping[str, Any]) -> str:
    """What an item holds other than declared: "'text' is no text: 42"."""
    text, score = item["text"], item.get("score")
    if not isinstance(text, str):
        return f"'text' is no text: {text!r:.80}"
    if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
        return f"'score' is no number: {score!r:.80}"
    return ""
