"""Nothing of ours waits without an end: what can wait has a bound, or a reason why not."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
LONGEST: Final = 1800.0
"""Seconds: an installation by pip. All others are below three hundred."""
POSITION: Final = {
    "wait": 0, "join": 0, "result": 0, "select": 3, "poll": 0, "wait_for": 1, "sleep": 0,
    "acquire": 1, "lock": 1, "within": 0, "create_connection": 1,
}  # fmt: skip
"""Calls that wait, and where among their arguments their bound stands."""
OF_OTHERS: Final = ("getaddrinfo", "gethostbyname", "open_connection", "shutdown")
"""Calls that wait for a name, a connection or threads, and take no bound."""
HELD: Final = ("lock", "_guard", ".guard", "._turn")
"""Ends of the names of what `with` waits for until nobody else has it."""
BY_NAME: Final = ("run", "check_output", "check_call", "communicate", "urlopen", "open")
"""Calls whose bound is named `timeout`."""
SETTINGS: Final = {
    "_POLL_S", "self._seconds", "self._settings.timeout_seconds", "self.settings.batch_poll_s",
    "settings.timeout_seconds", "self.settings.hang_s", "max(0.0, left)", "min(left, _TICK)",
    "patience", "wait", "wait_s", "min(1.0, self.settings.batch_poll_s)", "seconds",
    "self.delay_s + (self.faults.late_s if fault == 'late' else 0.0)",
}  # fmt: skip
"""Bounds that a setting gives, or that are counted down from one."""
UNBOUNDED: Final = {
    "decisionbench_gate/__main__.py": {
        "subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, "
        "check=False)": "the user's own command, which may install anything",
        "subprocess.run(words, capture_output=True, text=True, check=False)": "git, without a host",
    },
    "decisionbench_gate/verdict.py": {
        "subprocess.run([sys.executable, '-P', '-m', module, *words], cwd=cwd, env={**os.environ, "
        "'PYTHONPATH': path}, capture_output=True, text=True, check=False)": "a run, as they are",
    },
    "framework/engine/listener.py": {
        "told.result()": "the future is done",
        "self._thread.shutdown(cancel_futures=isinstance(error, KeyboardInterrupt))": "for the "
        "upload under way, each call of which has a deadline",
    },
    "framework/engine/workers.py": {
        "lock": "held while a message goes to the process that reads them",
        "worker.recv()": "it is ready, or closed",
        "os.read(alive, 1)": "a thread for as long as who made the process lives",
        "boss.recv()": "a worker waits for work, and ends with who made it (`_end_with`)",
    },
    "framework/models/carrier.py": {"self._lock": "held while a message is passed on"},
    "framework/models/transport.py": {
        "flight.result()": "the future is done",
        "asyncio.wait([flight])": "another task of this process, whose call has a deadline",
    },
    "framework/models/spending.py": {"self._freed.wait()": "inside of asyncio.wait_for"},
    "framework/pipeline/concurrency.py": {
        "asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)": "cases, each of which ends",
        "task.result()": "the task is done",
    },
    "framework/sandbox/_launcher.py": {
        "select.poll()": "it makes a poll object, and waits for nothing",
        "os.wait()": "for a child whose end is bounded by _supervise",
        "os.waitpid(pid, 0)": "a supervisor, whose job has a bound",
        "os.waitpid(init, 0)": "it was killed",
        "os.read(descriptor, 65536)": "it is ready, or a file of /proc",
        "os.read(go, 1)": "its supervisor writes, or has ended",
    },
    "framework/sandbox/box.py": {
        "self._lock": "held by a job, which has a bound",
        "self._process.wait()": "it was killed",
        "os.read(descriptor, 2 ** 20)": "it is ready",
    },
    "framework/store/atomic.py": {
        "fcntl.flock(descriptor, fcntl.LOCK_EX)": "for a run, which takes as long as its cases do"
    },
    "framework/store/directory.py": {
        "fcntl.flock(held, fcntl.LOCK_EX)": "a directory made a moment ago, whose name none knows"
    },
    "framework/store/journal.py": {"self._lock": "held while an event is written"},
    "framework/testing/arch_conformance.py": {"wait(value)": "a coroutine of a test"},
    "framework/testing/embedder_conformance.py": {"wait()": "a coroutine of a test"},
    "framework/testing/server.py": {
        "self._stop.wait()": "the server of a test, until it is stopped",
        "threading.Event().wait()": "a server that hangs, which a test asks for",
    },
    "hydra_plugins/decisionbench_launch.py": {
        "ray.get(task)": "a job, which takes as long as its cases do",
        "ray.shutdown()": "Ray's own bound of its processes",
    },
    "plugins/archs/external/_keeper.py": {
        "os.read(descriptor, _CHUNK)": "it is ready",
        "os.read(out, _CHUNK)": "it is ready",
        "select.select(list(reading - full), list(writing), [])": "ends with the arm or the system",
    },
    "plugins/archs/external/_exchanges.py": {
        "self._lock": "held by a call of the system, which has a bound"
    },
    "plugins/archs/external/_memory.py": {"self._guard": "held while an event is noted"},
    "plugins/archs/external/_proxy.py": {
        "self._guard": "held while numbers are counted",
        "self._turn": "held by a call of the model, whose deadline is the model's",
        "self._server.shutdown()": "the server's loop looks up every .05 s",
        "future.result()": "a call of the model, whose deadline is the model's",
    },
    "plugins/archs/external/_recorded.py": {
        "self._lock": "held while the file is read or written, whose own lock has a bound"
    },
    "plugins/archs/external/_shared.py": {
        "server.guard": "held while a descriptor is let go",
        "self._server.guard": "held while it is noted whose it is",
    },
    "plugins/archs/external/http.py": {
        "socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)": "the resolver has bounds, "
        "resolv.conf's timeout and attempts; addresses of this machine need none",
        "self._program.process.poll()": "asks and does not wait",
    },
    "plugins/archs/external/_program.py": {"self.process.wait()": "it was killed"},
    "plugins/archs/external/mcp.py": {"asyncio.Event().wait()": "a thread until it is cancelled"},
    "plugins/archs/external/process.py": {
        "self._lock": "held by an exchange, which has a bound",
        "self._process.wait()": "its output has an end: all who held it have ended",
        "os.read(out, 80)": "it is ready",
        "os.read(out, 1 << 16)": "it is ready",
    },
    "plugins/models/local/model.py": {
        "asyncio.open_connection(address.hostname, address.port)": "inside of the call's deadline"
    },
    "plugins/protocols/lifecycle/lifetime.py": {
        "ThreadPoolExecutor(writers)": "for writes of the memory, each of which has a bound"
    },
    "plugins/models/rule_based/patching/edits.py": {"source.result()": "no future: text"},
    "plugins/tracking/_deadline.py": {"future.result()": "the future is done"},
}
"""What has no bound, and why it ends all the same."""


def test_every_wait_has_a_bound_in_seconds_or_a_reason() -> None:
    problems = []
    used: dict[str, set[str]] = {}
    for path in sources():
        name = str(path.relative_to(ROOT))
        for call, bound in waits(path):
            told = ast.unparse(call)
            if told in UNBOUNDED.get(name, {}):
                used.setdefault(name, set()).add(told)
            elif not bounded(name, bound):
                problems.append(f"{name}:{call.lineno}: {told[:100]}")
    assert not problems, "\n".join(problems)
    known = {name: set(reasons) for name, reasons in UNBOUNDED.items() if reasons}
    assert used == known


def sources() -> Iterator[Path]:
    for room in ("framework", "plugins", "hydra_plugins", "decisionbench_gate"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if "/systems/" not in str(path) and "/data/" not in str(path):
                yield path  # the others run in a process of their own, which is bounded


def waits(path: Path) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The calls of a module that can wait, and what it waits to hold, each with its bound."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                told = ast.unparse(item.context_expr)
                if told.endswith(HELD) or "Executor(" in told:
                    yield item.context_expr, None
        if not isinstance(node, ast.Call):
            continue
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        named = {word.arg: word.value for word in node.keywords}
        bound = named.get("timeout", named.get("timeout_s"))
        if name in ("flock", "lockf"):
            if "LOCK_NB" not in ast.unparse(node) and "LOCK_UN" not in ast.unparse(node):
                yield node, None
        elif name in BY_NAME:
            if owner == "subprocess" or name in ("communicate", "urlopen") or "LOOPBACK" in owner:
                yield node, bound
        elif name == "waitpid":
            if "WNOHANG" not in ast.unparse(node):
                yield node, None
        elif name in OF_OTHERS:
            if "SHUT_" not in ast.unparse(node):  # of a socket, at once
                yield node, None
        elif (owner, name) in (("os", "read"), ("ray", "get")):
            yield node, None
        elif name in ("recv", "accept") and not node.args and owner != "os":
            yield node, bound
        elif name in POSITION and _waits(owner, name, node):
            of_several = name == "wait" and owner in ("", "asyncio")  # its first argument: of what
            place = 1 if of_several or owner == "self._guard" else POSITION[name]
            if name == "acquire" and "blocking" in named:
                continue
            yield node, bound or (node.args[place] if len(node.args) > place else None)


def _waits(owner: str, name: str, node: ast.Call) -> bool:
    if name == "join":  # of a thread or process, not of texts or paths
        return bool(not node.args or isinstance(node.args[0], ast.Constant | ast.Name)) and (
            owner.rpartition(".")[2].lstrip("_") in ("thread", "process")
        )
    if name in ("lock", "within"):  # ours, and not what else has the name
        return not owner and not ast.unparse(node).startswith("within(limits")
    return not (name == "poll" and owner.endswith("_process"))


def bounded(file: str, bound: ast.expr | None) -> bool:
    """Whether a bound is a number of seconds, or a setting that is one."""
    if bound is None:
        return False
    if ast.unparse(bound) in SETTINGS:
        return True
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    try:
        value: Any = eval(ast.unparse(bound), dict(vars(module)))
        return 0 <= float(value) <= LONGEST
    except (NameError, TypeError, ValueError):
        return False
