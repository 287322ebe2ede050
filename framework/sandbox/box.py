"""The sandbox as the rest of the framework uses it: a program and files in, a result out."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Final, Literal

from framework.errors import UserError
from framework.records import EMPTY
from framework.sandbox import _seccomp
from framework.text.reading import read_json

_LAUNCHER: Final = Path(__file__).with_name("_launcher.py")
_GRACE_SECONDS: Final = 10.0

Status = Literal["ok", "failed", "timeout", "memory", "killed", "output"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a program may use; past any of these it is ended, with all that it started.

    wall_seconds, cpu_seconds : time of the whole run; processor time of each process (whole
        seconds, at least 1).
    memory_bytes : address space of each process, and resident memory of all of them together.
    processes : processes and threads at once, the first one and the sandbox's own init included.
    output_bytes : standard output and standard error together.
    file_bytes, disk_bytes, files : size of one file, of all files, and their number.
    """

    wall_seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory_bytes: int = 512 * 2**20
    processes: int = 16
    output_bytes: int = 2**20
    file_bytes: int = 16 * 2**20
    disk_bytes: int = 64 * 2**20
    files: int = 4096

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value <= 0:
                raise ValueError(f"{name}: {value} given, more than 0 expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxResult:
    """What became of a program.

    status : `ok` (exit status 0), `failed` (another one), `timeout` (wall or processor time),
        `memory` (ended for it, or by a MemoryError), `killed` (by a signal), `output` (too much).
    exit_code : None where a limit ended it; negative for a signal.
    stdout, stderr : as UTF-8, at most `Limits.output_bytes` each. seconds : wall time, measured.
    """

    status: Status
    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float


class Sandbox:
    """Runs programs one after another, each in new namespaces with a new, private directory.

    A program sees the interpreter with its standard library, `/box` with the files it was given
    (its working directory, gone afterwards), and `/dev/{null,zero,random,urandom}`: no other file,
    no network, no process but its own, and an environment of `PYTHONHASHSEED=0` alone. A worker
    process, without any program's code in it, starts each of them, so that one run costs little
    more than the interpreter's start. Thread-safe; one program at a time: open several for more.

        with Sandbox() as sandbox:
            result = sandbox.run(["-c", "print(6 * 7)"])

    Raises UserError where the platform can't isolate (see `require`).
    """

    def __init__(self, limits: Limits | None = None) -> None:
        require()
        self.limits = limits or Limits()
        self._lock = threading.Lock()
        self._worker: _Worker | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker. A later run starts a new one."""
        with self._lock:
            self._stop()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # half-made, or the interpreter is going down
            self._stop()

    def _stop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def run(
        self,
        arguments: Sequence[str],
        files: Mapping[str, str] = EMPTY,
        *,
        stdin: str = "",
        limits: Limits | None = None,
    ) -> SandboxResult:
        """Run the Python interpreter with `arguments` (`["main.py"]`, `["-m", "unittest"]`).

        files : text by path below the working directory. Raises ValueError for a path that is
        absolute, climbs or is empty and for text that UTF-8 can't hold, OSError when the sandbox
        could not be set up.
        """
        job = _job(arguments, files, stdin, limits or self.limits)
        with self._lock:
            if self._worker is not None and not self._worker.is_ours:
                self._stop()
            if self._worker is None:
                self._worker = _Worker()
            try:
                answer = self._worker.ask(job)
            except BaseException:
                self._stop()
                raise
        if "refused" in answer:
            raise OSError(f"the sandbox could not be set up: {answer['refused']}")
        return SandboxResult(**answer)


class _Worker:
    """A launcher process and the two pipes to it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [_interpreter(), "-I", "-S", str(_LAUNCHER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the one who waits, not for the worker
        )

    @property
    def is_ours(self) -> bool:
        """Whether this process started it (a fork shares its pipes) and it still runs."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        descriptor = self._process.stdout.fileno()
        received = bytearray()
        patience = job["limits"]["wall_seconds"] + _GRACE_SECONDS
        while not received.endswith(b"\n"):
            if not select.select([descriptor], [], [], patience)[0]:
                raise OSError("the sandbox does not answer")
            data = os.read(descriptor, 2**20)
            if not data:
                raise OSError("the sandbox's worker has ended")
            received += data
        answer: dict[str, Any] = read_json(bytes(received))
        return answer

    def close(self) -> None:
        """End it, whatever it does: its programs die with it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # unsent bytes, and nobody reads them any more
                    pipe.close()
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        else:
            self._process.poll()  # which finds that it is no child of this process, and lets it be


@lru_cache(maxsize=1)
def available() -> str | None:
    """None where programs can be isolated here, otherwise why not.

    Found by isolating one: that a kernel knows namespaces does not say that it gives them.
    """
    if sys.platform != "linux":
        return f"it needs Linux's namespaces, this is {sys.platform}"
    if platform.machine() not in _seccomp.NUMBERS:
        return f"no system call filter for the machine type {platform.machine()}"
    try:
        worker = _Worker()
        try:
            answer = worker.ask(_job(["-c", "print(6 * 7)"], {}, "", Limits()))
        finally:
            worker.close()
    except OSError as error:
        return str(error)
    if "refused" in answer:
        return f"the kernel refuses: {answer['refused']}"
    if (answer["status"], answer["stdout"]) != ("ok", "42\n"):
        return f"a trial run ended with {answer['status']}: {answer['stderr'].strip()[-200:]}"
    return None


def require() -> None:
    """Raise UserError (exit status 2) where code that is not ours could not be isolated."""
    reason = available()
    if reason is not None:
        raise UserError(
            f"code from a model is not run here, as it can't be isolated: {reason} (sandbox.md)"
        )


def _job(
    arguments: Sequence[str], files: Mapping[str, str], stdin: str, limits: Limits
) -> dict[str, Any]:
    for path in files:
        parts = PurePosixPath(path).parts
        if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
            raise ValueError(f"{path!r} is not a path below the working directory")
    for text in (stdin, *files, *files.values()):
        text.encode()  # a lone surrogate has no place in a file: UnicodeEncodeError, a ValueError
    return {
        "argv": [_interpreter(), "-B", "-S", "-s", "-X", "utf8", *arguments],
        "environment": {"PYTHONHASHSEED": "0"},
        "files": dict(files),
        "stdin": stdin,
        "limits": asdict(limits),
        **_view(),
    }


def _interpreter() -> str:
    """The real interpreter: a virtual environment's is a link to it."""
    return str(Path(sys.executable).resolve())


@lru_cache(maxsize=1)
def _view() -> dict[str, Any]:
    """What of the host a program sees, and the numbers that the launcher needs."""
    libraries = [Path(p) for p in ("/lib", "/lib64", "/usr/lib", "/usr/lib64")]
    prefix = Path(sys.base_prefix).resolve()
    directories: dict[Path, None] = {}
    for path in (*libraries, prefix / "lib", prefix / "lib64"):
        if path.is_dir() and not path.is_symlink():
            directories[path] = None
    outermost = [d for d in directories if not directories.keys() & set(d.parents)]
    links = [(str(p), str(p.readlink())) for p in libraries if p.is_symlink()]
    programs = [_interpreter()]
    if Path("/etc/ld.so.cache").is_file():
        programs.append("/etc/ld.so.cache")
    stdlib = Path(sysconfig.get_path("stdlib"))
    packages = [stdlib / "site-packages", stdlib / "dist-packages", Path("/usr/lib/python3")]
    return {
        "directories": [str(d) for d in outermost],
        "links": links,
        "programs": programs,
        "hidden": [str(p) for p in packages if p.is_dir()],
        "calls": dict(_seccomp.NUMBERS[platform.machine()]),
        "filter": _seccomp.program().hex(),
    }
