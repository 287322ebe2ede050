"""Calls that outlive who asked for them: what was sent is received, stored and booked.

    run --request--> carrier, a process in a session of its own --> provider
        <-response--         it stores an answer before it passes it on

A run that is killed loses no answer that it pays for: its carrier ends with the last call under
way. A run that then asks the same waits for that call, by the claim on the cache, and finds its
answer there. Each call is made by the same code as without a carrier (`Served.alone`).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import pickle
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from framework.errors import StopRun
from framework.models import throttle
from framework.models.cache import Response
from framework.models.spending import Spending, current, spent_on

if TYPE_CHECKING:
    from framework.models.transport import Served

_START: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from framework.models.carrier import main; main(int(sys.argv[1]))"
)
_PATIENCE_S: Final = 5.0
"""For a carrier to end that has nothing under way."""
_carried: ContextVar[bool] = ContextVar("decisionbench_carried", default=False)


@contextlib.contextmanager
def carried() -> Iterator[None]:
    """Inside, in this context, calls are made by a carrier, where their answers are stored."""
    token = _carried.set(True)
    try:
        yield
    finally:
        _carried.reset(token)


def is_carried() -> bool:
    """Whether calls made now are to outlive this process."""
    return _carried.get()


class Carrier:
    """The process that makes the calls of something served, as that is asked for them."""

    def __init__(self, served: Served[Any]) -> None:
        self.pid = os.getpid()
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", _START, str(theirs.fileno()), *sys.path],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C, and a kill of the group, are not for it
            )
        self._answers, self._out = ours.makefile("rb"), ours.makefile("wb")
        self._asked: dict[int, Future[Any]] = {}
        self._numbers, self._lock = itertools.count(), threading.Lock()
        self._close = weakref.finalize(self, _end, ours, self._out, process)
        self._say((type(served), served.settings, throttle.sharing()))
        listening = (self._answers, self._asked)
        threading.Thread(target=_listen, args=listening, name="carrier", daemon=True).start()

    async def alone(
        self, operation: str, body: Mapping[str, Any], key: str
    ) -> tuple[Response, bool]:
        """What `Served.alone` returns or raises there. Cancelled here, it is cancelled there."""
        number, future = next(self._numbers), Future[Any]()
        self._asked[number] = future
        account = current()
        booked = account.opened_with if account is not None else None
        self._say((number, (operation, dict(body), key), booked))
        try:
            outcome = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._say((number, None, None))
            raise
        if isinstance(outcome, BaseException):
            raise outcome
        found: tuple[Response, bool] = outcome
        return found

    def close(self) -> None:
        """Let it end, and wait until it has."""
        self._close()

    def _say(self, message: Any) -> None:
        with self._lock, contextlib.suppress(OSError, ValueError):  # who listens tells that it died
            pickle.dump(message, self._out)
            self._out.flush()


def _listen(answers: Any, asked: dict[int, Future[Any]]) -> None:
    with contextlib.suppress(EOFError, OSError, ValueError):
        while True:
            number, outcome = pickle.load(answers)
            _settle(asked.pop(number), outcome)
    for number in list(asked):
        _settle(asked.pop(number), StopRun("the process that makes a system's calls has ended"))


def _settle(future: Future[Any], outcome: Any) -> None:
    if future.set_running_or_notify_cancel():
        future.set_result(outcome)


def _end(ours: socket.socket, out: Any, process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        ours.shutdown(socket.SHUT_WR)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE_S)
    with contextlib.suppress(OSError):
        out.close()
    ours.close()


def main(descriptor: int) -> None:
    """Be the carrier at the other end of a socket."""
    with socket.socket(fileno=descriptor) as wire:
        asyncio.run(_carry(wire))


async def _carry(wire: socket.socket) -> None:
    asked, answers = wire.makefile("rb"), wire.makefile("wb")
    loop = asyncio.get_running_loop()
    kind, settings, processes = pickle.load(asked)
    throttle.share_among(processes)
    served: Served[Any] = kind(settings)
    accounts: dict[Any, Spending] = {}
    under_way: dict[int, asyncio.Task[None]] = {}

    async def call(number: int, call: tuple[Any, ...], booked: Any) -> None:
        if booked is not None and booked not in accounts:  # one of each: it knows what it holds
            accounts[booked] = Spending.opened(booked)
        outcome: Any
        try:
            with spent_on(accounts.get(booked)):
                outcome = await served.alone(*call)
        except Exception as error:
            outcome = error
        finally:
            del under_way[number]
        with contextlib.suppress(OSError, ValueError):  # nobody is there any more: it is stored
            answers.write(pickle.dumps((number, outcome)))
            answers.flush()

    while (message := await loop.run_in_executor(None, _read, asked)) is not None:
        number, wanted, booked = message
        if wanted is not None:
            under_way[number] = asyncio.create_task(call(number, wanted, booked))
        elif number in under_way:
            under_way[number].cancel()
    await asyncio.gather(*under_way.values(), return_exceptions=True)
    await served.close()
    for account in accounts.values():
        account.close()


def _read(asked: Any) -> Any:
    try:
        return pickle.load(asked)
    except (EOFError, OSError, pickle.UnpicklingError):  # its end, or a half sentence before it
        return None
