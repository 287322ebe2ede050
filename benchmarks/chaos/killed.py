"""Faults of processes that are killed while others go on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from benchmarks.chaos.faults import fault
from benchmarks.chaos.hostile import answers, serving
from benchmarks.chaos.trial import Place, asking

_LEFT_S = 20.0
"""How long a worker may go on after who began it was killed."""


class _Holding:
    """A server that answers the first questions, and holds the others until it is let go."""

    def __init__(self, first: int) -> None:
        self.answered: Counter[bytes] = Counter()
        self.held = 0
        self._first = first
        self._go = threading.Event()
        self._lock = threading.Lock()
        self._say = answers("Paris")

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        body = bytes(handler.body)  # type: ignore[attr-defined]
        with self._lock:
            self._first -= 1
            holds = self._first < 0 and not self._go.is_set()
            self.held += holds
        if holds:
            self._go.wait(120)
            return
        self._say(handler)
        self.answered[body] += 1

    def let_go(self) -> None:
        self._go.set()


def _left(session: int) -> list[int]:
    """The processes of a session that are alive."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, _, its, *_ = (process / "stat").read_text().rpartition(")")[2].split()
            if int(its) == session and state != "Z":
                found.append(int(process.name))
    return found


@fault("sweep", "SIGKILL of its first process while a server answers, then resumed")
def _killed(place: Place) -> str:
    server = _Holding(2)
    with serving(server) as url:
        words = [
            w
            for w in asking(url)
            if not w.startswith(("hydra", "arch", "n_cases", "model.timeout"))
        ]
        process = place.start(
            "run", "-m", *words, "arch=bm25,last_mention", "n_cases=3", "hydra.sweep.dir=s",
            "report=false", "model.concurrency=1", "model.timeout_s=60",
        )  # fmt: skip
        place.waits(process, lambda: server.held > 0)
        time.sleep(0.5)
        begun = dict(server.answered)
        process.kill()
        until = time.monotonic() + _LEFT_S
        while (left := _left(process.pid)) and time.monotonic() < until:
            time.sleep(0.05)
        told = [place.ended(process), *["WORKERS GO ON"] * bool(left)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        server.let_go()
        told += [place.run("run", "resume=s"), place.run("verify", "s")]
    told += ["PAID TWICE"] * any(server.answered[body] > 1 for body in begun)
    return "; ".join(told)
