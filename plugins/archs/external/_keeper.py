"""The process around a third-party system; started by path, on the standard library alone.

    arm <--pipes--> keeper <--pipes--> system (a session of its own) and all that it starts

It passes on what both say. When the arm's end closes, whatever the reason, or on SIGTERM, it kills
the system and everything that came of it, and removes its home; so nothing is left behind, were the
run itself killed.
It ends, too, with the system, by its exit status and with the last of what it wrote to stderr; and
when the system writes more than BOUND bytes without being told anything, by status 75.

Where the arm is gone while an answer is under way, or before it recorded one, the keeper waits for
that answer and leaves it in LAST (_last.py), so that nothing is paid for again.

Arguments: BOUND (0: none), the system call filter in hex (`-`: none, so with the host's network),
the home, the file that its own stderr is, LAST (`-`: none), the SECONDS that an answer may take,
COMMAND...
"""

# Without pathlib and subprocess, whose imports would double the start of this process.
# ruff: noqa: PTH108, PTH123
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import signal
import sys
import time
from typing import NoReturn

FLOOD = 75
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP = 1, 22
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_CHUNK, _STDERR_KEPT, _PENDING = 65536, 2000, 1 << 20
_LONGEST = 1 << 24


class _Ended(Exception):
    """Raised by SIGTERM."""


class _Last:
    """The last line that the system was told, and what it has said since."""

    def __init__(self, place: str, seconds: float) -> None:
        self._question, self._answer = bytearray(), bytearray()
        self._seconds, self._file = seconds, None
        if place != "-":
            with contextlib.suppress(OSError):
                self._file = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def told(self, data: bytes) -> None:
        if self._file is not None:
            if self._question.endswith(b"\n"):
                self._question.clear()
                self._answer.clear()
            self._question += data

    def said(self, data: bytes) -> None:
        if self._file is not None and len(self._answer) <= _LONGEST:
            self._answer += data

    def leave(self, out: int) -> None:
        """Wait for the end of the answer, and write it down."""
        if self._file is None or not self._question.endswith(b"\n"):
            return
        end = time.monotonic() + self._seconds
        while not self._answer.endswith(b"\n"):
            left = end - time.monotonic()
            if left <= 0 or not select.select([out], [], [], max(0.0, left))[0]:
                return
            data = os.read(out, _CHUNK)
            if not data:
                return
            self.said(data)
        os.write(self._file, self._question + self._answer)


def main() -> NoReturn:
    """Start the system, relay, and leave nothing behind."""
    bound, filter_, home, errors, place, seconds, *command = int(sys.argv[1]), *sys.argv[2:]
    last = _Last(place, float(seconds))

    def ended(*_: object) -> NoReturn:
        raise _Ended

    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if sys.platform == "linux":  # every orphan of the system becomes a child of this process
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    pipes = [os.pipe() for _ in range(3)]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until the system can be killed
    system = os.fork()
    if system == 0:
        _execute(command, filter_, (pipes[0][0], pipes[1][1], pipes[2][1]))
    for descriptor in (pipes[0][0], pipes[1][1], pipes[2][1]):
        os.close(descriptor)
    tail, status, left = bytearray(), 1, False
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        status = _relay(pipes[0][1], pipes[1][0], pipes[2][0], bound, tail, last)
        left = status == 1
        if left:
            last.leave(pipes[1][0])
        if status == 0:
            status = _exit_status(system)
    except (_Ended, OSError):
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _kill_all(system)
        _remove(home)
        with contextlib.suppress(OSError):
            if left:  # nobody reads it any more
                os.unlink(errors)
            os.write(2, bytes(tail))
        os._exit(status)


def _execute(command: list[str], filter_: str, streams: tuple[int, int, int]) -> NoReturn:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.setsid()
        for target, descriptor in enumerate([os.dup2(s, 20 + i) for i, s in enumerate(streams)]):
            os.dup2(descriptor, target)
        os.closerange(3, 4096)
        if sys.platform == "linux":  # a server does not read that its input has ended
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if filter_ != "-":
            _close_network(bytes.fromhex(filter_))
        os.execvp(command[0], command)
    except BaseException as error:
        os.write(2, f"the system could not be started: {error}\n".encode())
    finally:
        os._exit(127)


def _close_network(filter_: bytes) -> None:
    """No network: a namespace without any, where the kernel gives one, and a filter of calls."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            # Where such namespaces are restricted, making one is allowed and mapping users is not.
            with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w") as file:
                file.write(text)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_void_p))

    lines = ctypes.create_string_buffer(filter_, len(filter_))
    program = Program(len(filter_) // 8, ctypes.addressof(lines))
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, None),
        (_PR_SET_SECCOMP, 2, ctypes.byref(program)),
    ):
        option, value, pointer = arguments
        if libc.prctl(option, ctypes.c_ulong(value), pointer, None, None) != 0:
            raise OSError(ctypes.get_errno(), "its network could not be closed")


def _relay(to: int, out: int, err: int, bound: int, tail: bytearray, last: _Last) -> int:
    """Pass on until the system closes its output (0), the arm leaves (1), or it floods (75)."""
    asked, said, unprompted = bytearray(), bytearray(), 0
    os.set_blocking(to, False)
    reading, hears = {0, out, err}, True
    while out in reading or said:
        full = {0} if len(asked) > _PENDING else set()
        full |= {out} if len(said) > _PENDING else set()
        writing = ({to} if asked and hears else set()) | ({1} if said else set())
        readable, writable, _ = select.select(list(reading - full), list(writing), [])
        for descriptor in readable:
            data = os.read(descriptor, _CHUNK)
            if descriptor == 0:
                if not data:
                    return 1
                asked += data
                last.told(data)
                unprompted = 0
            elif not data:
                reading.discard(descriptor)
            elif descriptor == err:
                tail += data
                del tail[:-_STDERR_KEPT]
            else:
                said += data
                last.said(data)
                unprompted += len(data)
                if 0 < bound < unprompted:
                    tail[:] = f"it wrote more than {bound:,} bytes unasked".encode()
                    return FLOOD
        if to in writable:
            try:
                del asked[: os.write(to, asked)]
            except BrokenPipeError:  # it reads no more; what it still says is passed on
                hears = False
        if 1 in writable:
            del said[: os.write(1, said[:_CHUNK])]
    return 0


def _exit_status(system: int) -> int:
    """The system's exit status, in a second at most: it may close its output and go on."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        pid, status = os.waitpid(system, os.WNOHANG)
        if pid:
            return abs(os.waitstatus_to_exitcode(status))
        time.sleep(0.005)
    return 0


def _kill_all(system: int) -> None:
    """Kill the system's group, then whatever is left of its descendants, until none is."""
    with contextlib.suppress(OSError):
        os.killpg(system, signal.SIGKILL)
    for _ in range(1000):
        for pid in _children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return


def _remove(home: str) -> None:
    import shutil  # only now: it would add to each start

    shutil.rmtree(home, ignore_errors=True)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:  # no such file on this platform
        return []


if __name__ == "__main__":
    main()
