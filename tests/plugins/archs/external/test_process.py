"""A memory behind JSON lines: the laws of an arm, its home, and every way in which it may end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import ArchContext
from framework.errors import UserError
from framework.testing.arch_conformance import NoClient, ask, check_arch, history, open_arch
from plugins.archs.external._home import _KEEPER, network_filter
from plugins.archs.external._mapping import SystemFailed
from plugins.archs.external._memory import ExternalMemory
from plugins.archs.external.process import LineSystem, ProcessMemory, ProcessSettings
from tests.plugins.archs.external.systems import HERE, SHELL, toy

ROOT = Path(__file__).resolve().parents[4]


def opened(settings: ProcessSettings) -> ExternalMemory[ProcessSettings]:
    instance = open_arch(ProcessMemory, settings, history())
    assert isinstance(instance, ProcessMemory)
    return instance


def told(settings: ProcessSettings) -> str:
    return ask(opened(settings), history())[0].text


def gone(pid: int) -> bool:
    """Whether a process ends within half a minute."""
    for _ in range(3000):
        try:
            status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if status == "Z":  # ended; its parent has not asked yet
            return True
        time.sleep(0.01)
    return False


def removed(home: Path) -> bool:
    """Whether a directory is gone within half a minute: its keeper removes it after the system."""
    until = time.monotonic() + 30
    while home.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return not home.exists()


def written(pids: Path) -> bool:
    """Whether a system wrote its number, that of its child and its directory."""
    return pids.exists() and len(pids.read_text().split()) == 3


@pytest.mark.slow
@pytest.mark.parametrize("settings", [ProcessSettings(command=SHELL), toy()], ids=["sh", "python"])
def test_any_language_keeps_the_laws_of_an_arm(settings: ProcessSettings) -> None:
    check_arch(ProcessMemory, settings)


def test_results_are_events_by_id() -> None:
    for item in ask(opened(ProcessSettings(command=SHELL)), history()):
        assert (item.id,) == item.source_ids
        assert item.signals["traced"] == 1.0


def test_the_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    monkeypatch.setenv("WANTED", "handed on")
    settings = toy("--tells", "environment", environment={"MINE": "{env.WANTED}", "AT": "{home}/x"})
    seen = {name: value[::-1] for name, value in json.loads(told(settings)).items()}
    assert seen.keys() - {"LC_CTYPE", "PWD"} == {"PATH", "HOME", "TMPDIR", "LANG", "MINE", "AT"}
    assert (seen["MINE"], seen["AT"]) == ("handed on", f"{seen['HOME']}/x")


def test_a_key_that_is_handed_on_is_in_no_result_and_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "not-a-key-12345678")
    handed: dict[str, Any] = {"environment": {"KEY": "{env.MY_KEY}"}}
    with pytest.raises(SystemFailed, match=r"a result holds the value of \{env\.MY_KEY\}"):
        told(toy("--tells", "keys", **handed))
    for script, said in (
        ('echo "bad key $KEY" >&2; exit 3', r"write: it ended with status 3: bad key \*\*\*$"),
        ("printf '%s%01990d\\n' $KEY 0 >&2; exit 3", "write: it ended with status 3: 0+$"),
        ('echo "{\\"error\\": \\"bad key $KEY\\"}"', r"write: bad key \*\*\*$"),
        ('echo "%070d $KEY"', r"write: the answer is no JSON: '%070d \*\*\*"),
    ):
        command = ("sh", "-c", f"read -r line; {script}")
        with pytest.raises(SystemFailed, match=said) as failed:
            opened(ProcessSettings(command=command, **handed))
        assert "5678" not in str(failed.value)


def test_every_history_has_a_fresh_home_that_is_gone_afterwards() -> None:
    places = []
    for _ in range(2):
        place, home, found = told(toy("--tells", "home")).split()
        assert (place, found) == (home, "False")
        assert home != str(Path.home())
        places.append(home)
    assert places[0] != places[1]
    assert all(removed(Path(place)) for place in places)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")
def test_the_network_is_closed_unless_declared() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = {"PORT": str(server.getsockname()[1])}
        shut = told(toy("--tells", "network", environment=port))
        assert shut.startswith("closed: [Errno 97]")
        ours = str(Path("/proc/self/ns/net").readlink())
        print("filter of system calls;", "namespace" if ours not in shut else "no namespace")
        left = told(toy("--tells", "network", environment=port, network=True))
        assert left.startswith("open")
        assert left.endswith(ours)


_RESTRICTED = """
import importlib.util, pathlib, socket, sys
spec = importlib.util.spec_from_file_location("keeper", sys.argv[1])
keeper = importlib.util.module_from_spec(spec)
spec.loader.exec_module(keeper)
class Lib:
    def __init__(self, real): self.real = real
    def unshare(self, flags): return 0
    def prctl(self, *given): return self.real.prctl(*given)
real = keeper.ctypes.CDLL
keeper.ctypes.CDLL = lambda *given, **named: Lib(real(*given, **named))
def refused(*given): raise PermissionError(1, "Operation not permitted")
keeper.open = refused
keeper._close_network(bytes.fromhex(sys.argv[2]))
try:
    socket.socket()
except OSError as error:
    print("closed", error.errno)
"""


@pytest.mark.skipif(network_filter() == "-", reason="there is no filter for this machine")
def test_without_a_mapping_of_users_the_filter_still_closes_the_network() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RESTRICTED, str(_KEEPER), network_filter()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("closed 97\n", 0), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("crash", "retrieve: it ended with status 1: out of memory"),
        ("hang", r"retrieve: no answer within 0\.5 s"),
        ("flood", "retrieve: it ended with status 75: it wrote more than 16,777,216 bytes"),
        ("talks", "write: "),
    ],
)
def test_what_fails_says_so_and_the_next_history_starts_again(fault: str, said: str) -> None:
    settings = toy("--fault", fault, timeout_seconds=20.0 if fault == "flood" else 0.5)
    for _ in range(2):
        with pytest.raises(SystemFailed, match=said):
            ask(opened(settings), history())


def test_after_a_failure_nothing_more_is_asked() -> None:
    instance = opened(toy("--fault", "crash"))
    with pytest.raises(SystemFailed, match="status 1"):
        ask(instance, history())
    with pytest.raises(SystemFailed, match="it has ended before"):
        ask(instance, history())


def test_after_an_error_that_it_survives_nothing_more_is_asked_either() -> None:
    script = """read -r line; echo '{"error": "no"}'; read -r line; echo '{"ok": true}'"""
    system = LineSystem(ProcessSettings(command=("sh", "-c", script)), "t")
    try:
        for said in ("write: no", "write: it has ended before: write: no"):
            with pytest.raises(SystemFailed, match=f"^{said}$"):
                system.write(history()[0])
    finally:
        system.close()


def test_what_can_not_be_started_leaves_no_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(*given: object, **named: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(OSError, match="no more processes"):
        LineSystem(ProcessSettings(command=SHELL), "t")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no", "write: the answer is no JSON: 'no'; what is no answer belongs on standard"),
        ("echo []", "write: the answer is no JSON object"),
        ("""echo '{"error": "the disk is full"}'""", "write: the disk is full"),
        ("""echo '{"ok": false}'""", "write: refused: its answer says that it is not ok"),
        ("""echo '{"ok": "yes"}'""", """write: the answer is not {"ok": true}: 'ok' is 'yes'"""),
        ("""echo '{"items": []}'""", r"write: the answer is not .*: it has \['items'\]"),
        ("exec no-such-program", "write: it ended with status 127: .*no-such-program"),
        ("exit 0", "write: it ended with status 0"),
        (
            "printf 'Error: no module memory.js\\n    at load:9\\n\\nNode.js v20\\n' >&2; exit 1",
            "write: it ended with status 1: Error: no module memory.js$",
        ),
        (
            "printf 'Error: listen EADDRINUSE: port 80\nEmitted error event at: x\n' >&2; exit 1",
            "write: it ended with status 1: Error: listen EADDRINUSE: port 80$",
        ),
    ],
)
def test_an_answer_that_is_none_is_told(script: str, said: str) -> None:
    with pytest.raises(SystemFailed, match=said):
        opened(ProcessSettings(command=("sh", "-c", f"read -r line; {script}")))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            '{"results": [], "n": 0}',
            r"retrieve: no list of objects as 'items' in .*\['n', 'results'\]",
        ),
        ('{"items": ["a text"]}', r"retrieve: no list of objects as 'items' in .*\['items'\]"),
        (
            '{"items": [{"text": "a"}, {"content": "b", "id": "d1"}]}',
            r"retrieve: an item without 'text': it has \['content', 'id'\]",
        ),
        ('{"items": [{"text": 42}]}', "retrieve: an item whose 'text' is no text: 42"),
        ('{"items": [{"text": null}]}', "retrieve: an item whose 'text' is no text: None"),
        (
            '{"items": [{"text": "a", "score": "NaN"}]}',
            "retrieve: an item whose 'score' is no number: .NaN.",
        ),
    ],
)
def test_an_answer_to_a_search_that_is_otherwise_tells_what_it_has(answer: str, said: str) -> None:
    script = f"read -r line; echo '{{\"ok\": true}}'; read -r line; echo '{answer}'"
    system = LineSystem(ProcessSettings(command=("sh", "-c", script)), "t")
    try:
        system.write(history()[0])
        with pytest.raises(SystemFailed, match=said):
            system.search("a text", 3)
    finally:
        system.close()


def test_an_answer_without_a_lines_end_is_told_from_none() -> None:
    script = "read -r line; printf '{\"ok\": true}'; sleep 60"
    settings = ProcessSettings(command=("sh", "-c", script), timeout_seconds=1.0)
    with pytest.raises(SystemFailed, match=r"within 1 s, but 12 bytes without a line's end$"):
        opened(settings)


def test_a_command_that_is_not_there_is_the_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    for command, said in (
        ((), "is required"),
        (("no-such-program",), "is not installed"),
        (("./memory.sh",), r"'\./memory\.sh' is relative .* '\{here\}/\./memory\.sh'"),
    ):
        with pytest.raises(UserError, match=said):
            opened(ProcessSettings(command=command))
    with pytest.raises(UserError, match="NO_SUCH_KEY is not set"):
        opened(toy(environment={"KEY": "{env.NO_SUCH_KEY}"}))
    with pytest.raises(UserError, match=r"arch\.environment: MY_TOKEN: a mapping is stored"):
        opened(toy(environment={"MY_TOKEN": "sk-0123456789"}))


@pytest.mark.slow
def test_a_cancelled_ingest_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    async def cancelled() -> float:
        context = ArchContext(budget_tokens=None, client=NoClient())
        instance = ProcessMemory(toy("--leaves", str(tmp_path / "pids")), context)
        many = (replace(history()[0], id=str(n)) for n in range(20_000))
        task = asyncio.create_task(instance.ingest(many))
        while not written(tmp_path / "pids"):
            await asyncio.sleep(0.01)
        task.cancel()
        begun = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return begun

    begun = asyncio.run(cancelled())
    assert time.monotonic() - begun < 60
    assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text().split()[:2])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_closing_ends_every_process_also_one_of_another_session(tmp_path: Path) -> None:
    instance = opened(toy("--leaves", str(tmp_path / "pids")))
    system, child, home = (tmp_path / "pids").read_text().split()
    assert Path(f"/proc/{child}").exists()
    del instance
    assert gone(int(system))
    assert gone(int(child))
    assert removed(Path(home))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_a_run_that_is_stopped(number: signal.Signals, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    (tmp_path / "arch").mkdir()
    words = [*toy("--fault", "hang", "--leaves", str(pids)).command]
    mapping = {"defaults": ["process", "_self_"], "command": words}
    (tmp_path / "arch/toy.yaml").write_text(json.dumps(mapping))
    run = subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), "--config-dir", ".", "arch=toy", "tracking=none"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    try:
        for _ in range(9000):
            if written(pids):
                break
            time.sleep(0.01)
        time.sleep(0.3)
        run.send_signal(number)
        if number == signal.SIGINT:  # the first lets what is under way end
            # Two that wait are one: the second is sent once the first was taken up.
            while line := run.stderr.readline():
                if "again to stop now" in line:
                    run.send_signal(number)
        run.communicate(timeout=60)
        system, child, home = pids.read_text().split()
        assert gone(int(system))
        assert gone(int(child))
        for _ in range(3000):
            if not (left := [*Path(home).parent.glob(f"{Path(home).name}*")]):
                break
            time.sleep(0.01)
        assert not left
    finally:
        run.kill()
        run.wait()
