"""The systems that ship: their mappings and locks, and the systems where they are installed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from framework.store.directory import read_run
from framework.text.reading import read_json
from plugins.archs.external._settings import SYSTEMS
from tests.launching import HOTPOT, run

CONF = Path(__file__).resolve().parents[4] / "conf/arch"
MAPPINGS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(CONF.glob("*.yaml"))}
INSTALLED = sorted(name for name, mapping in MAPPINGS.items() if "packages" in mapping)
WITHOUT_CHAT = [n for n in INSTALLED if not (MAPPINGS[n].get("models") or {}).get("chat")]


@pytest.mark.parametrize("name", INSTALLED)
def test_a_shipped_system_says_what_it_is_and_all_of_its_packages_are_locked(name: str) -> None:
    mapping = MAPPINGS[name]
    assert mapping["version"]
    assert mapping["licence"]
    assert mapping["homepage"]
    lock = SYSTEMS / mapping["lock"].removeprefix("{system}/")
    if lock.name.endswith(".package-lock.json"):
        assert mapping["command"][0].startswith("{bin}/")
        found = dict(read_json(lock.read_text())["packages"])
        asked = found.pop("")["dependencies"]
        assert list(asked.values()) == [mapping["version"]]
        assert found.keys() >= {f"node_modules/{package}" for package in asked}
        assert all(entry["integrity"].startswith("sha512-") for entry in found.values())
        return
    driver = mapping["command"][1].removeprefix("{system}/")
    assert mapping["command"][0] == "{python}"
    assert (SYSTEMS / driver).is_file()
    lines = [line for line in lock.read_text().splitlines() if not line.startswith("#")]
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
    done = run(capsys, *HOTPOT, f"arch={name}", "n_cases=1")
    if "needs its environment" in done.err:
        pytest.skip(done.err.strip())
    assert done.status == 0, done.err
    rows = read_run(done.directory).rows
    assert not any(row.error for row in rows), rows[0].error
    assert all(row.view_tokens > 0 for row in rows)
