"""A JSON API whose server the mapping starts: waited for, and ended with all that it began."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework.contracts import ArchContext
from framework.errors import UserError
from framework.records import Event
from framework.registry import find, identity_of, settings_of
from framework.store.state import read_run
from framework.testing.arch_conformance import NoClient, ask, check_arch, history, open_arch
from plugins.archs.external._mapping import SystemFailed
from plugins.archs.external._proxy import Proxy
from plugins.archs.external._settings import SYSTEMS, Models
from plugins.archs.external.canaries import Canaries
from plugins.archs.external.http import HttpMemory, HttpSettings, HttpSystem
from tests.launching import HOTPOT, run
from tests.plugins.archs.external.systems import HERE
from tests.plugins.archs.external.test_process import gone, removed, written

CALLS: dict[str, Any] = {
    "add": {"path": "/add", "fields": {"id": "{id}", "text": "{text}"}},
    "search": {"path": "/search", "fields": {"query": "{query}", "limit": "{limit}"}},
    "answer": {"items": "found", "id": "id"},
}
ADDRESS = "http://127.0.0.1:{port}/v1"


def mapping(*words: str, **given: Any) -> dict[str, Any]:
    command = [sys.executable, "-S", "-E", str(HERE / "served.py"), "{port}", *words]
    return {**CALLS, "command": command, "address": ADDRESS, "network": True, **given}


def settings(*words: str, **given: Any) -> HttpSettings:
    made = settings_of(find("arch", "http"), mapping(*words, **given))
    assert isinstance(made, HttpSettings)
    return made


@pytest.mark.slow
def test_it_keeps_the_laws_of_an_arm() -> None:
    check_arch(HttpMemory, settings())


@pytest.mark.slow
def test_it_passes_the_canaries_two_histories_at_once_too() -> None:
    found = {f.name: f for f in Canaries().run(HttpMemory, settings(), False)}
    assert [name for name, f in found.items() if f.passed is False] == []
    assert found["tenants"].passed
    assert found["reset"].passed is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_server_is_waited_for_and_ended_with_all_that_it_began(tmp_path: Path) -> None:
    instance = open_arch(
        HttpMemory, settings("--leaves", str(tmp_path / "pids"), "--late", "0.3"), history()
    )
    server, child, home = (tmp_path / "pids").read_text().split()
    assert {item.source_ids for item in ask(instance, history(), 9, "credit score")} >= {("e1",)}
    assert Path(f"/proc/{child}").exists()
    assert Path(home).exists()
    assert home != str(Path.home())
    del instance
    assert gone(int(server))
    assert gone(int(child))
    assert removed(Path(home))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("dead", "start: it ended with status 1: no model is there"),
        ("deaf", "start: no answer from 127.0.0.1:PORT within 0.8 s: starting"),
        ("mute", "start: no answer from 127.0.0.1:PORT within 0.8 s: starting"),
        ("busy", "start: no answer from 127.0.0.1:PORT within 0.8 s, but status 503: starting"),
    ],
)
def test_one_that_does_not_start_says_so_in_one_line_and_is_ended(
    fault: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time that it has begins once it says that it starts, and if it can, that it is busy."""
    answered: list[int] = []
    exchange = HttpSystem._exchange

    def noted(self: HttpSystem, *args: Any) -> tuple[int, bytes]:
        found = exchange(self, *args)
        answered.append(found[0])
        return found

    begins: list[float] = []

    def clock() -> float:
        says_so = fault == "dead" or written(tmp_path / "pids")
        if not begins and says_so and (fault != "busy" or answered):
            begins.append(time.monotonic())
        return time.monotonic() - begins[0] if begins else 0.0

    monkeypatch.setattr(HttpSystem, "_exchange", noted)
    running = SimpleNamespace(monotonic=clock, sleep=time.sleep)
    monkeypatch.setattr("plugins.archs.external.http.time", running)
    leaves = [] if fault == "dead" else ["--leaves", str(tmp_path / "pids")]
    seconds = 60.0 if fault == "dead" else 0.8
    begun = time.monotonic()
    with pytest.raises(SystemFailed) as failed:
        HttpSystem(settings("--fault", fault, *leaves, timeout_seconds=seconds), "t")
    assert re.sub(r":\d+ ", ":PORT ", str(failed.value)) == said
    assert time.monotonic() - begun < 60
    if leaves:
        assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text().split()[:2])


@pytest.mark.slow
def test_one_that_dies_is_rows_with_its_error(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    (runs_dir / "arch").mkdir()
    text = json.dumps({"defaults": ["http", "_self_"], **mapping("--fault", "crash")})
    (runs_dir / "arch/mine.yaml").write_text(text)
    done = run(
        capsys, *HOTPOT, "n_cases=2", "max_errors=9", "--config-dir", str(runs_dir), "arch=mine"
    )
    rows = read_run(done.directory).rows
    assert len(rows) == 2
    assert all("search: it ended with status 4: out of memory" in row.error for row in rows)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_server_whose_keeper_was_killed_ends_and_is_asked_nothing_more(tmp_path: Path) -> None:
    system = HttpSystem(settings("--leaves", str(tmp_path / "pids")), "t")
    server, child, _ = (tmp_path / "pids").read_text().split()
    try:
        assert system._program is not None
        system._program.process.kill()
        system._program.process.wait()
        assert gone(int(server))
        # Its port may be another's, which must not be told what it holds.
        with pytest.raises(SystemFailed, match="add: it ended with status -9"):
            system.write(Event(id="e", text="x", time="", kind=""))
    finally:
        os.kill(int(child), signal.SIGKILL)
        system.close()


def test_it_has_the_port_in_its_environment_and_its_models_on_a_socket() -> None:
    proxy = Proxy(Models(chat=True), ArchContext(budget_tokens=None, client=NoClient()))
    told = {"path": "", "method": "GET"}
    given = settings(models={"chat": True}, environment={"PORT": "{port}"}, reset=told)
    system = HttpSystem(given, "t", proxy)
    try:
        assert given.reset is not None
        seen = system._call("look", given.reset, {"tenant": "t"})
        assert seen["PORT"] == str(system._url.port)
        assert seen["DECISIONBENCH_SOCKET"] == str(proxy.socket)
    finally:
        system.close()
        proxy.close()


_KILLED = """
import sys
from framework.registry import find, settings_of
from plugins.archs.external.http import HttpSystem
import json
system = HttpSystem(settings_of(find("arch", "http"), json.loads(sys.argv[1])), "t")
print("started", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_server_does_not_outlive_a_run_that_is_killed(tmp_path: Path) -> None:
    words = json.dumps(mapping("--leaves", str(tmp_path / "pids")))
    killed = subprocess.Popen(
        [sys.executable, "-c", _KILLED, words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SYSTEMS.parents[3])},
    )
    assert killed.stdin is not None
    assert killed.stdout is not None
    try:
        assert killed.stdout.readline() == "started\n"
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        killed.stdin.close()
        killed.stdout.close()
    assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text().split()[:2])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"command": ["server"]}, r"command: \{port\}, where the server has to listen"),
        ({"address": "http://127.0.0.1:8000"}, r"address: of the server that is started, as http"),
        ({"address": "http://{home}:{port}"}, r"address: no placeholder \{home\}"),
        ({"network": False}, "network: a server that is started listens on a port: declare true"),
        (
            {"command": [], "models": {"chat": True}, "reset": {"path": "/"}},
            "models: .* no command is declared",
        ),
    ],
)
def test_a_mapping_that_can_not_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        settings_of(find("arch", "http"), {**mapping(), **given})


def test_a_program_that_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="'no-such-server' is not installed"):
        open_arch(HttpMemory, settings(command=["no-such-server", "{port}"]), history())


def test_the_address_is_of_the_port_where_the_mapping_says_no_more() -> None:
    calls = {
        "add": {"path": "/v1/add", "fields": {"id": "{id}", "text": "{text}"}},
        "search": {**CALLS["search"], "path": "/v1/search"},
    }
    instance = open_arch(HttpMemory, settings(address="", **calls), history())
    assert ask(instance, history(), 3, "credit score")


def test_a_command_is_part_of_what_the_arm_is_and_without_one_it_is_what_it_was() -> None:
    plugin = find("arch", "http")
    assert identity_of(plugin, settings())["command"]
    plain = {**CALLS, "address": "http://127.0.0.1:1", "reset": {"path": "/reset"}}
    without = identity_of(plugin, settings_of(plugin, plain))
    assert not {"command", "environment", "network", "models", "packages", "lock"} & set(without)
