from __future__ import annotations

import os
import secrets
import select
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.sandbox import Sandbox
from tests.framework.sandbox.escapes import ESCAPES, Escape

NAME = "DECISIONBENCH_TEST_SECRET"


def packages_of_the_host() -> str:
    """Where the interpreter that the environment was made with keeps its packages.

    Debian's own has them in `dist-packages`, and not where sysconfig says.
    """
    base = sys.base_prefix
    said = sysconfig.get_path("purelib", vars={"base": base, "platbase": base})
    known = (said, f"{base}/lib/python3/dist-packages")
    return next((place for place in known if any(Path(place).glob("*"))), said)


class World:
    """What may not be seen and what may not change, and how to tell that it was or did."""

    def __init__(self, folder: Path, secret: str) -> None:
        self.secret = secret
        self.mark = f"mark_{secrets.token_hex(8)}"
        self.out = folder / "out"
        self.out.mkdir()
        (self.out / "kept").write_text("kept")
        self.file = folder / "secret.txt"
        self.file.write_text(secret)
        self._servers = [socket.socket(), socket.socket(socket.AF_UNIX), socket.socket(1)]
        self._servers[0].bind(("127.0.0.1", 0))
        self._servers[1].bind(str(folder / "s"))
        self._servers[2].bind(f"\0{self.mark}")
        for server in self._servers:
            server.listen()
        self._udp = socket.socket(type=socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._neighbour = subprocess.Popen(["sleep", "60"], cwd=folder)
        self._listing = self._list()
        self.values = {
            "NAME": NAME,
            "FILE": str(self.file),
            "OUT": str(self.out),
            "PORT": str(self._servers[0].getsockname()[1]),
            "UDP": str(self._udp.getsockname()[1]),
            "SOCKET": str(folder / "s"),
            "ABSTRACT": self.mark,
            "PID": str(self._neighbour.pid),
            "HOST": os.uname().nodename,
            "PACKAGES": packages_of_the_host(),
            "MARK": self.mark,
        }

    def fill(self, code: str) -> str:
        for name, value in self.values.items():
            code = code.replace(f"@{name}@", value)
        return f"{code}\n# {self.mark}"

    def _list(self) -> set[str]:
        return {str(p) for p in self.out.parent.rglob("*")}

    def left_over(self) -> list[int]:
        """Processes whose command line bears the mark."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if self.mark.encode() in (entry / "cmdline").read_bytes():
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def effects(self, stdout: str, stderr: str) -> set[str]:
        found = set()
        if self.secret in stdout + stderr:
            found.add("secret")
        if "ESCAPED" in stdout:
            found.add("said so")
        if self._list() != self._listing:
            found.add("files")
        if select.select([*self._servers, self._udp], [], [], 0)[0]:
            found.add("network")
        if self._neighbour.poll() is not None:
            found.add("neighbour")
        if self.left_over():
            found.add("process")
        return found

    def close(self) -> None:
        for pid in self.left_over():
            os.kill(pid, 9)
        for server in (*self._servers, self._udp):
            server.close()
        self._neighbour.kill()
        self._neighbour.wait()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    secret = secrets.token_hex(16)
    monkeypatch.setenv(NAME, secret)
    opened = World(tmp_path, secret)
    yield opened
    opened.close()


def test_there_are_enough_attempts() -> None:
    assert len({e.name for e in ESCAPES}) == len(ESCAPES) >= 40


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda e: e.name)
def test_an_escape_has_no_effect(escape: Escape, world: World, sandbox: Sandbox) -> None:
    result = sandbox.run(["-c", world.fill(escape.code)])
    assert world.effects(result.stdout, result.stderr) == set(), result
    assert sandbox.run(["-c", "print('alive')"]).stdout == "alive\n"


@pytest.mark.slow
@pytest.mark.parametrize("escape", [e for e in ESCAPES if e.control], ids=lambda e: e.name)
def test_the_same_works_outside(escape: Escape, world: World, tmp_path: Path) -> None:
    box = tmp_path / "out" / "box"
    box.mkdir()
    world._listing = world._list()
    command = [sys.executable, "-S", "-c", world.fill(escape.code)]
    done = subprocess.run(command, cwd=box, capture_output=True, text=True, timeout=60)
    if escape.name in NEEDS_PRIVILEGE and os.geteuid() != 0:
        pytest.skip("works outside for root only")
    deadline = time.monotonic() + 30  # what was killed may take a moment to be gone
    while not (found := world.effects(done.stdout, done.stderr)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found, done


NEEDS_PRIVILEGE = {"trace a neighbour", "new user namespace"}
