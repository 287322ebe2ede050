"""The systems that ship: their mappings and locks, and the systems where they are installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from framework.store.state import read_run
from plugins.archs.external._settings import SYSTEMS
from tests.launching import HOTPOT, run

CONF = Path(__file__).resolve().parents[4] / "conf/arch"
MAPPINGS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(CONF.glob("*.yaml"))}
LOCKS = {name: m["lock"].removeprefix("{system}/") for name, m in MAPPINGS.items() if "lock" in m}
OF_PIP = [name for name, lock in LOCKS.items() if lock.endswith(".lock")]
OF_NPM = [name for name in LOCKS if name not in OF_PIP]
WITHOUT_CHAT = [n for n in OF_PIP if not (MAPPINGS[n].get("models") or {}).get("chat")]


@pytest.mark.parametrize("name", LOCKS)
def test_a_shipped_system_says_what_it_is(name: str) -> None:
    for key in ("version", "licence", "homepage", "packages"):
        assert MAPPINGS[name][key]


@pytest.mark.parametrize("name", OF_NPM)
def test_a_system_of_npm_is_locked_at_its_version(name: str) -> None:
    mapping = MAPPINGS[name]
    assert mapping["command"][0].startswith("{bin}/")
    assert LOCKS[name] == f"{name}.package-lock.json"
    asked = json.loads((SYSTEMS / LOCKS[name]).read_text())["packages"][""]["dependencies"]
    assert mapping["packages"] == [f"{package}@{version}" for package, version in asked.items()]
    assert mapping["version"] in asked.values()


@pytest.mark.parametrize("name", OF_PIP)
def test_all_packages_of_a_shipped_system_are_locked(name: str) -> None:
    mapping = MAPPINGS[name]
    driver = mapping["command"][1].removeprefix("{system}/")
    assert mapping["command"][0] == "{python}"
    assert (SYSTEMS / driver).is_file()
    lines = [
        line
        for line in (SYSTEMS / LOCKS[name]).read_text().splitlines()
        if not line.startswith("#")
    ]
    assert lines
    assert all("==" in line and " --hash=sha256:" in line for line in lines)
    assert any(line.split(" ")[0].endswith(f"=={mapping['version']}") for line in lines)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", WITHOUT_CHAT)
def test_a_system_that_is_installed_is_an_arm(
    name: str, capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    done = run(capsys, *HOTPOT, f"arch={name}", "n_cases=1", "arch.install=false")
    if "needs its environment" in done.err:
        pytest.skip(done.err.strip())
    assert done.status == 0, done.err
    rows = read_run(done.directory).rows
    assert not any(row.error for row in rows), rows[0].error
    assert all(row.view_tokens > 0 for row in rows)
