from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from framework.errors import UserError
from framework.sandbox import Limits, Sandbox, _seccomp, available, box, require

# More processor time than a run has wall time on any machine: only one of the two can end it.
SMALL = Limits(wall_seconds=3, cpu_seconds=60, memory_bytes=128 * 2**20, processes=8)


def test_a_program_gets_its_files_and_its_input(sandbox: Sandbox) -> None:
    files = {
        "main.py": "import sys, shop.core\nprint(shop.core.double(int(sys.stdin.read())))",
        "shop/__init__.py": "",
        "shop/core.py": "def double(x):\n    return 2 * x  # é\n",
    }
    result = sandbox.run(["main.py"], files, stdin="21")
    assert (result.status, result.exit_code, result.stdout) == ("ok", 0, "42\n")
    assert result.stderr == ""
    assert 0 < result.seconds < 60


def test_a_module_runs_with_the_working_directory_on_its_path(sandbox: Sandbox) -> None:
    test = "import unittest\nclass T(unittest.TestCase):\n def test(self): self.assertTrue(1)"
    result = sandbox.run(["-m", "unittest", "-q", "tests.test_it"], {"tests/test_it.py": test})
    assert result.status == "ok"
    assert "Ran 1 test" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "status", "exit_code"),
    [
        ("pass", "ok", 0),
        ("raise SystemExit(3)", "failed", 3),
        ("1 / 0", "failed", 1),
        ("def (", "failed", 1),
        ("import time; time.sleep(60)", "timeout", None),
        ("x = [0] * 10**9", "memory", 1),
        ("import os; os.kill(os.getpid(), 9)", "killed", -9),
        ("import os; os.abort()", "killed", -6),
        ("import ctypes; ctypes.string_at(0)", "killed", -11),
        ("while True: print('x' * 1000)", "output", None),
        ("import sys\nwhile True: sys.stderr.write('x' * 1000)", "output", None),
        ("import os\nwhile True: os.fork()", "failed", 1),
        ("import os\nwhile True:\n try: os.fork()\n except OSError: pass", "timeout", None),
        ("open('f', 'w').write('x' * 2**25)", "failed", 1),
    ],
)
def test_the_status_says_what_became_of_it(
    sandbox: Sandbox, code: str, status: str, exit_code: int | None
) -> None:
    # What ends by itself is given time: only what never does is ended by the clock.
    limits = SMALL if status == "timeout" else replace(SMALL, wall_seconds=60)
    result = sandbox.run(["-c", code], limits=limits)
    assert (result.status, result.exit_code) == (status, exit_code)
    assert len(result.stdout) <= SMALL.output_bytes
    assert len(result.stderr) <= SMALL.output_bytes
    assert result.seconds < limits.wall_seconds + 10


@pytest.mark.slow
def test_processor_time_is_limited_by_itself(sandbox: Sandbox) -> None:
    limits = Limits(wall_seconds=60, cpu_seconds=1)
    result = sandbox.run(["-c", "while True: pass"], limits=limits)
    assert (result.status, result.exit_code) == ("timeout", -signal.SIGXCPU)


def test_memory_counts_over_all_processes(sandbox: Sandbox) -> None:
    code = (
        "import os, time\nfor _ in range(4):\n if os.fork() == 0: break\n"
        "b = bytearray(60 * 2**20)\ntime.sleep(30)"
    )
    assert sandbox.run(["-c", code], limits=SMALL).status == "memory"


def test_disk_is_limited_and_gone_afterwards(sandbox: Sandbox) -> None:
    code = (
        "import os\nprint(os.listdir())\nfor i in range(99): open(str(i), 'w').write('x' * 2**22)"
    )
    result = sandbox.run(["-c", code])
    assert result.stdout == "[]\n"
    assert "No space left on device" in result.stderr
    assert sandbox.run(["-c", code]).stdout == "[]\n"


def test_files_that_do_not_fit_are_the_programs_failure(sandbox: Sandbox) -> None:
    result = sandbox.run(["a"], {"a": "x" * 2**20}, limits=Limits(disk_bytes=2**16))
    assert (result.status, result.exit_code) == ("failed", None)
    assert "could not be written" in result.stderr
    assert sandbox.run(["a"], {"a": "", "a/b": ""}).status == "failed"


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "", "a\0b"])
def test_a_path_stays_below_the_directory(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(ValueError, match="below the working directory"):
        sandbox.run(["-c", "pass"], {path: ""})


def test_text_that_is_no_unicode_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        sandbox.run(["-c", "pass"], {"a": "\ud800"})


@pytest.mark.parametrize("name", list(Limits.__dataclass_fields__))
def test_a_limit_is_positive(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})


def test_runs_are_the_same_each_time(sandbox: Sandbox) -> None:
    code = "print(hash('a'), sorted(__import__('os').environ), {'a', 'b', 'c'})"
    assert len({sandbox.run(["-c", code]).stdout for _ in range(3)}) == 1


def test_output_that_is_no_text_is_replaced(sandbox: Sandbox) -> None:
    assert sandbox.run(["-c", "import os; os.write(1, b'a\\xff')"]).stdout == "a�"


def test_threads_share_it_and_several_run_at_once(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda i: sandbox.run(["-c", f"print({i})"]).stdout, range(20))
        assert list(results) == [f"{i}\n" for i in range(20)]


def test_a_worker_that_was_killed_is_replaced() -> None:
    with Sandbox() as own:
        own.run(["-c", "pass"])
        assert own._worker is not None
        own._worker._process.kill()
        own._worker._process.wait()
        assert own.run(["-c", "print(1)"]).stdout == "1\n"


def test_closing_ends_the_worker_and_a_run_starts_another() -> None:
    own = Sandbox()
    own.run(["-c", "pass"])
    assert own._worker is not None
    process = own._worker._process
    own.close()
    assert process.poll() is not None
    assert own.run(["-c", "print(1)"]).stdout == "1\n"
    own.close()


def test_a_fork_does_not_share_the_pipes(sandbox: Sandbox) -> None:
    sandbox.run(["-c", "pass"])
    pid = os.fork()
    if pid == 0:
        fine = False
        try:
            fine = sandbox.run(["-c", "print(2)"]).stdout == "2\n"
            sandbox.close()
        finally:
            os._exit(0 if fine else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert sandbox.run(["-c", "print(3)"]).stdout == "3\n"


def test_programs_die_with_whoever_started_them() -> None:
    mark = f"orphan_{time.monotonic_ns()}"
    code = (
        "from framework.sandbox import Sandbox, Limits\n"
        f"Sandbox().run(['-c', 'import time; time.sleep(600) # {mark}'], "
        "limits=Limits(wall_seconds=600))"
    )
    root = Path(__file__).parents[3]
    started = subprocess.Popen([sys.executable, "-c", code], cwd=root)
    try:
        assert _comes_true(lambda: bool(_running(mark)))
    finally:
        started.kill()
        started.wait()
    assert _comes_true(lambda: not _running(mark))


def _comes_true(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return held


def _running(mark: str) -> list[int]:
    """The processes of the program, without who started it, nor its fork before the exec."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words and b"import Sandbox" not in words:
                found.append(int(entry.name))
    return found


def test_where_the_platform_can_not_isolate_code_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    available.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(box, "sys", SimpleNamespace(platform="darwin"))
            assert "darwin" in (available() or "")
            with pytest.raises(UserError, match=r"code from a model is not run here.*darwin"):
                require()
            with pytest.raises(UserError, match="darwin"):
                Sandbox()
        available.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr("platform.machine", lambda: "riscv64")
            assert "riscv64" in (available() or "")
    finally:
        available.cache_clear()


def test_a_kernel_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = box._job

    def without_root(*arguments: object) -> dict[str, object]:
        return real(*arguments) | {"directories": ["/no/such/directory"]}  # type: ignore[arg-type]

    available.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(box, "_job", without_root)
            assert "mount" in (available() or "")
    finally:
        available.cache_clear()


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can give up its rights"
)
def test_a_run_is_refused_with_status_2_where_namespaces_are_forbidden(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable]
    words = [str(root / "run.py"), "domain=codebase", "arch=none", "tracking=none"]
    done = subprocess.run(
        [*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "code from a model is not run here" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("runs/*/journal.jsonl"))


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_whole_for_each_machine(machine: str) -> None:
    lines = _seccomp.program(machine)
    assert len(lines) % 8 == 0
    assert 50 < len(lines) // 8 < 4096


def test_a_run_costs_little(sandbox: Sandbox) -> None:
    sandbox.run(["-c", "pass"])

    def took() -> float:
        start = time.perf_counter()
        sandbox.run(["-c", "pass"])
        return time.perf_counter() - start

    # The fastest of some: what else the machine does makes a run slower, never faster.
    assert any(took() < 0.3 for _ in range(100))
