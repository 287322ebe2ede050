"""The process that isolates and runs programs; started by path, on the standard library alone.

Reads one job a line (JSON) from standard input and answers each with one line (JSON) on standard
output. For each job it forks; the child leaves the host's namespaces, builds a root of its own,
gives up every privilege, and supervises the program from outside the program's process namespace:

    launcher -> supervisor (all namespaces but pid) -> init (pid 1) -> the program

When init ends, the kernel ends every process that the program left behind. Supervisor and init die
with their parent. The program never shares a process with anything that a result depends on.
"""

# Without pathlib, whose import would double the start of this process.
# ruff: noqa: PTH102, PTH103, PTH106, PTH120, PTH123, PTH208, PTH211
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import Any, NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_OTHER_NAMESPACES = 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 4096, 16384, 1 << 18
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_ID = 65534
_OLD = "/.host"
_TICK = 0.02


def main() -> None:
    """Serve jobs until standard input ends."""
    for line in sys.stdin:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _supervise_and_exit(line, writer)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as pipe:
            answer = pipe.read()
        os.waitpid(pid, 0)
        sys.stdout.write((answer or '{"refused": "the supervisor was killed"}') + "\n")
        sys.stdout.flush()


def _supervise_and_exit(line: str, writer: int) -> NoReturn:
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            job = json.loads(line)
            proc = _isolate(job)
        except OSError as error:
            answer = {"refused": f"{error.strerror or error}"}
        else:
            answer = _supervise(job, proc)
        _write_all(writer, json.dumps(answer).encode())
    finally:
        os._exit(0)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


# --- leaving the host ---------------------------------------------------------------------------


def _call(name: str, *arguments: Any) -> int:
    """A function of libc. Raises OSError naming it when it fails."""
    result = int(getattr(_LIBC, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def _prctl(option: int, value: int, pointer: Any = None) -> None:
    _call("prctl", option, ctypes.c_ulong(value), pointer, None, None)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    try:
        _call(
            "mount",
            source.encode(),
            target.encode(),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            options.encode() or None,
        )
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({target})") from None


def _isolate(job: Any) -> int:
    """Leave the host's namespaces for a root that holds `job`'s files; a descriptor of its /proc.

    A privileged user builds the root first and then becomes nobody, so that an interpreter below a
    closed home can be mounted; an ordinary one can only mount within a user namespace of its own.
    """
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    privileged = os.geteuid() == 0
    if not privileged:
        _enter_user_namespace(proc)
    _call("unshare", _CLONE_NEWNS | _OTHER_NAMESPACES)
    _call("sethostname", b"sandbox", 7)
    _build_root(job)
    if privileged:
        os.setgroups([])
        os.setresgid(_ID, _ID, _ID)
        os.setresuid(_ID, _ID, _ID)
        _prctl(_PR_SET_DUMPABLE, 1)  # else its own map below /proc belongs to root
        _enter_user_namespace(proc)
    _drop_capabilities()
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user clears it
    return proc


def _enter_user_namespace(proc: int) -> None:
    uid, gid = os.geteuid(), os.getegid()
    _call("unshare", _CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_ID} {uid} 1"),
        ("gid_map", f"{_ID} {gid} 1"),
    ):
        descriptor = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def _build_root(job: Any) -> None:
    """A read-only root on tmpfs: the interpreter, its libraries, four devices, and `/box`."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755")
    os.mkdir(f"/tmp{_OLD}")
    _call("syscall", ctypes.c_long(job["calls"]["pivot_root"]), b"/tmp", f"/tmp{_OLD}".encode())
    os.chdir("/")
    for path in job["directories"]:
        os.makedirs(path, exist_ok=True)
        _bind(job, path, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV)
    for path in job["programs"]:
        _touch(path)
        _bind(job, path, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV)
    for path in ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"):
        _touch(path)
        _bind(job, path, _ATTR_RDONLY | _ATTR_NOSUID)
    for path, target in job["links"]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
    for path in job["hidden"]:
        _mount("tmpfs", path, "tmpfs", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, "size=4k")
    os.mkdir("/box")
    size, entries = job["limits"]["disk_bytes"], job["limits"]["files"]
    options = f"size={size},nr_inodes={entries},mode=700,uid={_ID},gid={_ID}"
    _mount("tmpfs", "/box", "tmpfs", _MS_NOSUID | _MS_NODEV, options)
    _call("umount2", _OLD.encode(), _MNT_DETACH)
    os.rmdir(_OLD)
    _set_attributes(job, "/", _ATTR_RDONLY, 0)


def _bind(job: Any, path: str, attributes: int) -> None:
    _mount(_OLD + path, path, "", _MS_BIND | _MS_REC)
    _set_attributes(job, path, attributes, _AT_RECURSIVE)


def _set_attributes(job: Any, path: str, attributes: int, flags: int) -> None:
    wanted = ctypes.create_string_buffer(struct.pack("=QQQQ", attributes, 0, 0, 0), 32)
    number = ctypes.c_long(job["calls"]["mount_setattr"])
    arguments = (ctypes.c_int(_AT_FDCWD), path.encode(), ctypes.c_uint(flags))
    try:
        _call("syscall", number, *arguments, wanted, ctypes.c_size_t(32))
    except OSError as error:
        raise OSError(error.errno, f"mount_setattr: {error.strerror} ({path})") from None


def _touch(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _fill_box(files: Any) -> None:
    os.chdir("/box")
    for path, text in files.items():
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)


def _drop_capabilities() -> None:
    header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0), 8)
    _call("capset", header, ctypes.create_string_buffer(24))


# --- running the program ------------------------------------------------------------------------


def _supervise(job: Any, proc: int) -> dict[str, Any]:
    """Run the program to its end or to a limit, and tell what became of it."""
    limits = job["limits"]
    try:
        _fill_box(job["files"])
    except OSError as error:
        problem = f"the files could not be written: {error}"
        return _result("failed", None, b"", problem.encode(), 0.0)
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    end_read, end_write = os.pipe()
    go_read, go_write = os.pipe()
    given = os.memfd_create("stdin", os.MFD_CLOEXEC)
    _write_all(given, job["stdin"].encode())
    os.lseek(given, 0, os.SEEK_SET)
    start = time.monotonic()
    init = os.fork()
    if init == 0:
        _init(job, go_read, (given, out_write, err_write), end_write)
    for descriptor in (given, out_write, err_write, end_write, go_read):
        os.close(descriptor)
    os.write(go_write, b"!")
    texts = {out_read: bytearray(), err_read: bytearray(), end_read: bytearray()}
    open_ones = set(texts)
    status = ""
    asker = select.poll()
    asker.register(0, 0)
    while open_ones and not status:
        if asker.poll(0):  # whoever asked has hung up: init dies with this process
            os._exit(1)
        left = start + limits["wall_seconds"] - time.monotonic()
        if left <= 0:
            status = "timeout"
            break
        for descriptor in select.select(list(open_ones), [], [], min(left, _TICK))[0]:
            data = os.read(descriptor, 65536)
            texts[descriptor] += data
            if not data:
                open_ones.discard(descriptor)
        if len(texts[out_read]) + len(texts[err_read]) > limits["output_bytes"]:
            status = "output"
        elif _resident(proc, init) > limits["memory_bytes"]:
            status = "memory"
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
        os.kill(init, signal.SIGKILL)
    os.waitpid(init, 0)
    seconds = time.monotonic() - start
    ended = texts[end_read]
    code = None
    if not status:
        code = os.waitstatus_to_exitcode(struct.unpack("=i", ended)[0]) if ended else None
        status = _status(code, bytes(texts[err_read]))
    out, err = (bytes(texts[d][: limits["output_bytes"]]) for d in (out_read, err_read))
    return _result(status, code, out, err, seconds)


def _result(
    status: str, code: int | None, out: bytes, err: bytes, seconds: float
) -> dict[str, Any]:
    return {
        "status": status,
        "exit_code": code,
        "stdout": out.decode(errors="replace"),
        "stderr": err.decode(errors="replace"),
        "seconds": seconds,
    }


def _status(code: int | None, stderr: bytes) -> str:
    if code == 0:
        return "ok"
    if code == -signal.SIGXCPU:
        return "timeout"
    if code is None or code < 0:
        return "killed"
    last = stderr.rstrip().rpartition(b"\n")[2]
    return "memory" if last.startswith(b"MemoryError") else "failed"


def _resident(proc: int, root: int) -> int:
    """Bytes resident in a process and all below it, pages that they share counted for each.

    The limit on a process's address space is for one process: this is for all of them together.
    """
    total, pids = 0, [root]
    for pid in pids:
        try:
            total += int(_read(proc, f"{pid}/statm").split()[1])
            for thread in _names(proc, f"{pid}/task"):
                children = _read(proc, f"{pid}/task/{thread}/children")
                pids += [int(child) for child in children.split()]
        except (OSError, ValueError, IndexError):  # it has just ended
            continue
    return total * resource.getpagesize()


def _names(proc: int, path: str) -> list[str]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def _read(proc: int, path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY, dir_fd=proc)
    try:
        return os.read(descriptor, 65536)
    finally:
        os.close(descriptor)


def _init(job: Any, go: int, streams: tuple[int, int, int], end: int) -> NoReturn:
    """Process 1 of the program's namespace: starts the program, waits, tells how it ended."""
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if not os.read(go, 1):
            os._exit(1)
        _close_all_but(*streams, end)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _filter_calls(bytes.fromhex(job["filter"]))
        program = os.fork()
        if program == 0:
            _execute(job, streams)
        for descriptor in streams:
            os.close(descriptor)
        while True:
            pid, status = os.wait()
            if pid == program:
                os.write(end, struct.pack("=i", status))
                os._exit(0)
    finally:
        os._exit(1)


def _close_all_but(*kept: int) -> None:
    low = 0
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, 65536)


def _filter_calls(program: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_void_p))

    lines = ctypes.create_string_buffer(program, len(program))
    filter_ = Program(len(program) // 8, ctypes.addressof(lines))
    _prctl(_PR_SET_SECCOMP, 2, ctypes.byref(filter_))


def _execute(job: Any, streams: tuple[int, int, int]) -> NoReturn:
    try:
        os.setsid()
        # Above 2 first, so that no copy falls on a stream that is still to be copied.
        for target, descriptor in enumerate([os.dup2(s, 20 + i) for i, s in enumerate(streams)]):
            os.dup2(descriptor, target)
        os.closerange(3, 65536)
        limits = job["limits"]
        cpu = max(1, round(limits["cpu_seconds"]))
        for name, value in (
            (resource.RLIMIT_CPU, cpu),
            (resource.RLIMIT_AS, limits["memory_bytes"]),
            (resource.RLIMIT_NPROC, limits["processes"]),
            (resource.RLIMIT_FSIZE, limits["file_bytes"]),
            (resource.RLIMIT_NOFILE, 256),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            resource.setrlimit(name, (value, value + 1 if name == resource.RLIMIT_CPU else value))
        os.execve(job["argv"][0], job["argv"], job["environment"])
    except BaseException as error:
        os.write(2, f"the program could not be started: {error}\n".encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    main()
