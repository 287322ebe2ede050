"""Jobs side by side: a pool of processes that begin with all that this one has loaded.

A worker is a fork, so it pays for no imports and for no check that was made already. It is a group
of processes of its own: Ctrl-C on the terminal reaches this process alone, which passes it on. It
ends when this process does, however that ends.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Final

from framework.errors import UserError

_log = logging.getLogger(__name__)

_POLL_S: Final = 0.2
"""How often signals are looked for while all workers are at work."""
_GRACE_S: Final = 10.0
"""How long a worker may take to end after it was told to stop at once."""


class JobFailed(Exception):
    """A job ended with an error of ours in its worker, whose traceback is the message."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What a worker says of the job with number `job`: something for the listener, or its end."""

    job: int
    kind: str  # "tell", "log", "done", "mistake", "failed", "interrupted"
    content: Any


def cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


class Pool:
    """Processes that run jobs by number.

    run : called in a worker with a job's number and a function that tells `heard` of something.
    heard : called here with the job's number and what its worker told.

    Close it, or use it as a context: no worker is left then.
    """

    def __init__(
        self,
        size: int,
        run: Callable[[int, Callable[[Any], None]], Any],
        heard: Callable[[int, Any], None],
    ) -> None:
        self._heard = heard
        self._workers: dict[Connection, BaseProcess] = {}
        self._at_work: dict[Connection, int] = {}
        context = multiprocessing.get_context("fork")
        self._alive, here = os.pipe()  # read by workers: it ends when this process does
        self._here = here
        for _ in range(size):
            ours, theirs = context.Pipe()
            inherited = [*self._workers, ours]
            process = context.Process(
                target=_work, args=(theirs, inherited, self._alive, here, run), daemon=True
            )
            process.start()
            theirs.close()
            self._workers[ours] = process

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def run(self, begin: Callable[[], int | None], ended: Callable[[int, Any], None]) -> None:
        """Run the jobs whose numbers `begin` gives, and hand each result to `ended`.

        `begin` gives None where nothing can begin before another job has ended. The first Ctrl-C
        lets the jobs end in order, the second and SIGTERM stop them at once; KeyboardInterrupt is
        raised then. Raises UserError for a mistake that a job found, and JobFailed for an error of
        ours, when the others under way have ended.
        """
        error: Exception | None = None
        with _signals() as caught:
            passed_on = 0
            while True:
                while passed_on < len(caught):
                    passed_on = self._pass_on(caught, passed_on)
                for worker in [w for w in self._workers if w not in self._at_work]:
                    if error or caught or (job := begin()) is None:
                        break
                    self._at_work[worker] = job
                    worker.send(job)
                if not self._at_work:
                    break
                for ready in wait(list(self._at_work), _POLL_S):
                    assert isinstance(ready, Connection)
                    told = self._told(ready)
                    if told.kind == "tell":
                        self._heard(told.job, told.content)
                    elif told.kind == "log":
                        name, level, text = told.content
                        logging.getLogger(name).log(level, "%s", text)
                    else:
                        self._at_work.pop(ready, None)
                        if told.kind == "done":
                            ended(told.job, told.content)
                        elif told.kind != "interrupted":
                            kind = UserError if told.kind == "mistake" else JobFailed
                            error = error or kind(told.content)
            if caught:
                raise KeyboardInterrupt
        if error is not None:
            raise error

    def close(self) -> None:
        """End every worker."""
        for worker, process in self._workers.items():
            worker.close()  # one that waits for work ends
            if worker in self._at_work:
                process.terminate()
        os.close(self._here)
        os.close(self._alive)
        for process in self._workers.values():
            _end(process)
        self._workers.clear()

    def _told(self, worker: Connection) -> _Told:
        try:
            told = worker.recv()
            assert isinstance(told, _Told)
            return told
        except (EOFError, ConnectionResetError):
            process, job = self._workers.pop(worker), self._at_work[worker]
            _end(process)
            worker.close()
            return _Told(job, "failed", f"a job's process ended by itself: {_ending(process)}")

    def _pass_on(self, caught: Sequence[int], passed_on: int) -> int:
        number = caught[passed_on]
        if number == signal.SIGINT and passed_on == 0:
            _log.warning("interrupted: finishing what is under way; again to stop now")
        for worker in self._at_work:
            pid = self._workers[worker].pid
            if pid is not None:
                os.kill(pid, number)
        return passed_on + 1


def _end(process: BaseProcess) -> None:
    """Wait until a process has ended, then kill it."""
    process.join(_GRACE_S)
    if process.is_alive():
        process.kill()
        process.join(_GRACE_S)


def _ending(process: BaseProcess) -> str:
    code = process.exitcode
    return f"killed by signal {-code}" if code is not None and code < 0 else f"status {code}"


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Inside, SIGINT and SIGTERM are noted in the list, where this is the main thread."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield caught
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work(
    boss: Connection,
    inherited: Sequence[Connection],
    alive: int,
    here: int,
    run: Callable[[int, Callable[[Any], None]], Any],
) -> None:
    """A worker's life: job after job, until there is no one to ask.

    It can be told to stop at any moment, and leaves nothing to be ended after it.
    """
    status = 0
    try:
        os.setpgrp()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        for connection in inherited:
            connection.close()
        os.close(here)
        threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
        lock = threading.Lock()

        def say(job: int, kind: str, content: Any) -> None:
            try:
                with lock:
                    boss.send(_Told(job, kind, content))
            except OSError:  # nobody hears any more
                raise KeyboardInterrupt from None

        while True:
            job: int = boss.recv()
            told = partial(say, job)
            with _logged_to(partial(told, "log")):
                end = _ended(partial(run, job, partial(told, "tell")))
                try:
                    told(*end)
                except Exception:  # a result that can't be sent
                    told("failed", traceback.format_exc())
    except (EOFError, ConnectionError, KeyboardInterrupt):
        pass  # closed by the process that it works for, which is gone or wants no more
    except Exception:
        status = 1
        traceback.print_exc()
    finally:
        try:
            # What a plugin printed; not what was to be done at the exit of the process it is of.
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):  # closed, or read by nobody
                    stream.flush()
        finally:
            os._exit(status)  # also where it is told to stop, again, while it ends


def _ended(job: Callable[[], Any]) -> tuple[str, Any]:
    """How a job ended, and its result or what went wrong."""
    try:
        return "done", job()
    except KeyboardInterrupt:
        return "interrupted", None
    except UserError as error:
        return "mistake", str(error)
    except Exception:
        return "failed", traceback.format_exc()


def _end_with(alive: int) -> None:
    """Stop this process when the one that made it is gone: at once but in order, then by force."""
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(_GRACE_S)
    os._exit(1)


class _Said(logging.Handler):
    """Hands what is logged to the process that shows it."""

    def __init__(self, say: Callable[[tuple[str, int, str]], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say((record.name, record.levelno, self.format(record)))


@contextmanager
def _logged_to(say: Callable[[tuple[str, int, str]], None]) -> Iterator[None]:
    """Inside, what `framework` logs is handed on, and shown by nobody here."""
    log = logging.getLogger("framework")
    before, handler = log.handlers[:], _Said(say)
    handler.setLevel(logging.INFO)
    # Of an interruption the process that passed it on tells, once.
    handler.addFilter(lambda record: not record.msg.startswith("interrupted"))
    log.handlers[:] = [handler]
    try:
        yield
    finally:
        log.handlers[:] = before
