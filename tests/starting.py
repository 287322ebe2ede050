"""Our commands start from a process that has imported what they import: most of a short one's time.

Tests start a thousand commands, and each imports the same modules. Here one process imports them
once, and a command is a fork of it: a process of its own all the same, child of the test, with its
own arguments, folder, environment and files; it can be waited for, told to stop and killed as any
other. Modules are imported beforehand and nothing of them is called.

What has other ways to start (an option of Python, another interpreter, a shell) or packages of its
own starts as ever, and so does everything where there is no Linux.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import inspect
import json
import os
import pkgutil
import runpy
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    *("numpy", "scipy.special", "scipy.stats", "hydra", "omegaconf", "yaml", "jsonschema"),
    *("pyarrow.parquet", "mlflow.tracking", "mlflow.store.tracking.sqlalchemy_store"),
    *("matplotlib.figure", "matplotlib.backends.backend_svg", "anthropic", "openai"),
)
"""What most commands import, of others."""
PACKAGES = ("framework", "plugins", "hydra_plugins")
"""Of ours, whose modules are all imported, but for those whose libraries are not installed."""
AT_THE_START = ("PYTHON", "OPENBLAS", "OMP", "MKL", "MLFLOW_DIS", "LC_", "LANG", "TZ", "MPL")
"""How names of variables begin that Python or a library may read when it starts."""
_MOST = 1 << 20
"""Bytes of one request."""
READY = b"ready"
_AS_EVER = subprocess.Popen._execute_child
_PR_SET_CHILD_SUBREAPER = 36


class Starter:
    """The process that has imported, and the line to it; it ends when this process does."""

    def __init__(self) -> None:
        """Start it; it imports while this process goes on."""
        self.environment = _settled(os.environ)
        self._alone = threading.Lock()
        self._ready = False
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def is_ready(self, wait: bool = False) -> bool:
        """Whether it has imported all, by now or after a wait."""
        if not self._ready and (wait or select.select([self._line], [], [], 0)[0]):
            self._ready = self._line.recv(64) == READY
            assert self._ready, "what the commands of tests start from has ended"
        return self._ready

    def start(self, words: Sequence[str], files: Sequence[int], given: Mapping[str, Any]) -> int:
        """The process id of a command that is a child of this process, as if started here."""
        request = json.dumps({"words": list(words), **given}).encode()
        with self._alone:
            _adopt(True)  # a fork of a fork whose parent has ended belongs to who adopts it
            try:
                socket.send_fds(self._line, [request], list(files))
                return int(self._line.recv(64))
            finally:
                _adopt(False)


def _adopt(orphans: bool) -> None:
    import ctypes

    assert ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(orphans), 0, 0, 0) == 0


def _settled(environment: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if k.startswith(AT_THE_START)}


_starter: Starter | None = None


def start_quickly() -> None:
    """Let each command of ours that this process starts be a fork, as soon as one can be."""
    global _starter
    if sys.platform == "linux" and _starter is None:
        _starter = Starter()
        subprocess.Popen._execute_child = _execute_child


def wait_until_quick() -> None:
    """Wait for what commands start from: where one is timed, all have to start alike."""
    if _starter is not None:
        _starter.is_ready(wait=True)


def is_ours(words: Sequence[str], cwd: Path) -> bool:
    """Whether it is a command of this checkout, run by this Python without options of its own."""
    if len(words) < 2 or words[0] != sys.executable:
        return False
    if words[1] == "-m":
        named, first = words[2:3] == ["framework"], cwd
    else:
        named, first = Path(words[1]).name == "run.py", (cwd / words[1]).resolve().parent
    # A folder with packages of these names would come before this one.
    return named and (first.samefile(ROOT) or not any((first / name).exists() for name in PACKAGES))


def _execute_child(self: subprocess.Popen[Any], *arguments: Any) -> None:
    """In place of `subprocess.Popen._execute_child`: all else of Popen works on the process id."""
    assert _starter is not None
    named = inspect.signature(_AS_EVER).bind(self, *arguments).arguments
    args, environment = named["args"], os.environ if named["env"] is None else named["env"]
    words = [os.fsdecode(word) for word in args] if isinstance(args, list | tuple) else []
    plain = not any(
        (named["executable"], named["preexec_fn"], named["pass_fds"], named["shell"])
    ) and (named["uid"], named["gid"], named["gids"], named["umask"]) == (None, None, None, -1)
    cwd = Path(os.fsdecode(named["cwd"] or ".")).absolute()
    if not (plain and cwd.is_dir() and is_ours(words, cwd)):
        return _AS_EVER(self, *arguments)
    if _settled(environment) != _starter.environment or not _starter.is_ready():
        return _AS_EVER(self, *arguments)
    ends = (named["p2cread"], named["c2pwrite"], named["errwrite"])
    self.pid = _starter.start(
        words[1:],
        [usual if end == -1 else end for usual, end in enumerate(ends)],
        {
            "cwd": os.fspath(cwd),
            "environment": dict(environment),
            "session": named["start_new_session"],
        },
    )
    self._child_created = True
    pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
    self._close_pipe_fds(*(named[end] for end in pipes))
    return None


def _next_command(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Serve requests; return in each new process, with what it shall run and its files."""
    while True:
        try:
            request, files, _, _ = socket.recv_fds(line, _MOST, 3)
        except ConnectionResetError:  # the tests ended before it was asked whether it is ready
            os._exit(0)
        if not request:
            os._exit(0)
        heard, told = os.pipe()
        between = os.fork()
        if between == 0:
            between = os.getpid()
            pid = os.fork()
            if pid == 0:
                while os.getppid() == between:
                    time.sleep(0.0005)  # the one in between is about to end
                os.close(heard)
                os.close(told)
                line.close()
                return json.loads(request), files
            os.write(told, str(pid).encode())
            os._exit(0)
        os.waitpid(between, 0)
        line.send(os.read(heard, 64))
        for end in (heard, told, *files):
            os.close(end)


def _run(given: Mapping[str, Any], files: Sequence[int]) -> None:
    """Become the command, as a Python that starts would."""
    if given["session"]:
        os.setsid()
    for usual, file in enumerate(files):
        os.dup2(file, usual)
        os.close(file)
    os.chdir(given["cwd"])
    os.environ.clear()
    os.environ.update(given["environment"])
    utf8 = partial(open, encoding="utf-8", closefd=False)
    sys.stdin, sys.stdout = utf8(0), utf8(1, "w")
    sys.stderr = utf8(2, "w", buffering=1, errors="backslashreplace")
    first, *rest = given["words"]
    if first == "-m":
        module, *words = rest
        sys.argv[:] = [module, *words]
        sys.path[0] = given["cwd"]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = [first, *rest]
        sys.path[0] = str(Path(first).resolve().parent)
        runpy.run_path(first, run_name="__main__")


def _end_with(status: int) -> None:
    """End as Python does, but for freeing each object, for which a fork would copy most of them."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:  # Python itself says so, and how
        return
    sys.stderr.flush()
    os._exit(status & 0xFF)


def _import_all() -> None:
    for library in LIBRARIES:
        importlib.import_module(library)
    sys.path[0] = str(ROOT)
    for name in PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                with suppress(ImportError):
                    importlib.import_module(module.name)


if __name__ == "__main__":
    _import_all()
    assert threading.active_count() == 1, "a fork would lose the others"
    gc.collect()
    gc.freeze()
    _own = socket.socket(fileno=int(sys.argv[1]))
    try:
        _own.send(READY)
    except BrokenPipeError:  # the tests ended meanwhile
        os._exit(0)
    try:
        _run(*_next_command(_own))
    except SystemExit as _end:
        if not isinstance(_end.code, int | None):
            raise
        _end_with(_end.code or 0)
    else:
        _end_with(0)
