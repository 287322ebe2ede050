"""A command that is a fork of what has imported is a process as any other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import starting

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="forks of forks are adopted on Linux alone"),
]
TELLS = """
import json, os, sys
print(json.dumps({
    "argv": sys.argv, "name": __name__, "file": __file__, "cwd": os.getcwd(), "path": sys.path[0],
    "parent": os.getppid(), "set": os.environ.get("SET"), "unset": os.environ.get("UNSET"),
    "read": sys.stdin.read(), "imported": "mlflow" in sys.modules,
    "ours": [m for m in sys.modules if m.split(".")[0] in ("framework", "plugins", "tests")],
}))
print("told apart", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    starting.start_quickly()
    starting.wait_until_quick()
    (tmp_path / "run.py").write_text(TELLS, encoding="utf-8")
    return tmp_path / "run.py"


def test_it_has_its_own_words_folder_environment_and_files(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSET", "1")
    (place := script.parent / "elsewhere").mkdir()
    told = []
    for options in ([], ["-B"]):  # with an option of Python it starts as ever
        done = subprocess.run(
            [sys.executable, *options, script, "3", "a b"],
            cwd=place,
            env={**{k: v for k, v in os.environ.items() if k != "UNSET"}, "SET": "é"},
            input="given",
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (3, "told apart\n")
        told.append(json.loads(done.stdout))
    quick, usual = told
    assert (quick.pop("imported"), usual.pop("imported")) == (True, False)
    assert {"framework.cli", "plugins.archs.bm25"} <= {*quick.pop("ours")}
    assert usual.pop("ours") == []
    assert quick == usual
    assert usual["parent"] == os.getpid()
    assert (usual["set"], usual["unset"]) == ("é", None)


def test_packages_of_its_own_are_the_ones_it_runs(script: Path) -> None:
    script.write_text("import framework\nprint(framework.MINE)\n", encoding="utf-8")
    (script.parent / "framework").mkdir()
    (script.parent / "framework" / "__init__.py").write_text("MINE = 1\n", encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


@pytest.mark.parametrize("ending", ["0", "None", "256 + 7", "'said'", "1 / 0"])
def test_it_ends_as_a_process_that_starts_afresh(script: Path, ending: str) -> None:
    code = (
        "import atexit, os, sys, threading, time\n"
        "atexit.register(print, 'at the end')\n"
        "threading.Timer(0.2, print, ['a thread']).start()\n"
        f"print('main')\nsys.exit({ending})\n"
    )
    script.write_text(code, encoding="utf-8")
    ended = []
    for options in ([], ["-B"]):
        words = [sys.executable, *options, script]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        ended.append((done.returncode, done.stdout, done.stderr.splitlines()[-1:]))
    quick, usual = ended
    assert quick == usual
    assert quick[1] == "main\na thread\nat the end\n"


def test_it_can_be_killed_and_waited_for(script: Path) -> None:
    script.write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n", encoding="utf-8")
    for stop in (signal.SIGKILL, signal.SIGTERM):
        process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            assert process.poll() is None
            process.send_signal(stop)
            assert process.wait(timeout=60) == -stop
        assert not Path(f"/proc/{process.pid}").exists()


def test_its_children_are_no_children_of_the_test(script: Path) -> None:
    script.write_text(
        "import os, time\nif (pid := os.fork()): print(pid)\n"
        "else: os.close(1), os.close(2), time.sleep(600)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    status = Path(f"/proc/{done.stdout.strip()}/status").read_text(encoding="utf-8")
    os.kill(int(done.stdout), signal.SIGKILL)
    assert f"PPid:\t{os.getpid()}\n" not in status


def test_what_reads_its_environment_at_the_start_starts_as_ever(script: Path) -> None:
    code = "import sys\nprint(sys.flags.hash_randomization, 'mlflow' in sys.modules)\n"
    script.write_text(code, encoding="utf-8")
    words = [sys.executable, str(script)]
    given = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(words, env=given, capture_output=True, text=True, check=True)
    assert done.stdout == "0 False\n"


def test_starts_at_once_are_told_apart(script: Path) -> None:
    at_once = [
        subprocess.Popen(
            [sys.executable, str(script), str(n)], stdin=subprocess.DEVNULL, stdout=-1, stderr=-3
        )
        for n in range(8)
    ]
    assert [process.communicate() and process.returncode for process in at_once] == [*range(8)]
