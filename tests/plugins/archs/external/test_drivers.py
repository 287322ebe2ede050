"""The drivers of a command are the files of ours that it runs, with what these import."""

from __future__ import annotations

from pathlib import Path

from framework.text.canonical import digest_file
from plugins.archs.external._drivers import drivers_of
from plugins.archs.external._settings import SYSTEMS, places


def test_a_driver_comes_with_what_it_imports_beside_it(tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text("import os\nimport bridge\nfrom pipes import end\n")
    (tmp_path / "bridge.py").write_text("import driver\n")
    (tmp_path / "pipes.py").write_text("def (\n")
    (tmp_path / "apart.py").write_text("")
    (tmp_path / "notes.sh").write_text("import apart\n")
    where = {"here": str(tmp_path), "system": str(tmp_path)}
    command = ["{python}", "{system}/driver.py", "{home}/x.py", "{here}/notes.sh", "{here}/none.py"]
    assert drivers_of(command, where) == {
        name: digest_file(tmp_path / name)
        for name in ("bridge.py", "driver.py", "notes.sh", "pipes.py")
    }


def test_a_change_of_a_driver_or_of_its_bridge_is_seen(tmp_path: Path) -> None:
    for name in ("driver.py", "bridge.py"):
        (tmp_path / name).write_text("import bridge\n")
    where = {"here": str(tmp_path)}
    seen = [drivers_of(["{here}/driver.py"], where)]
    for name in ("driver.py", "bridge.py"):
        (tmp_path / name).write_text("import bridge, sys\n")
        seen.append(drivers_of(["{here}/driver.py"], where))
    assert len({tuple(one.items()) for one in seen}) == 3


def test_a_command_without_files_of_ours_has_none() -> None:
    assert drivers_of(["npx", "server", "{home}/store"], places()) == {}
    shipped = drivers_of(["{python}", "{system}/mem0_driver.py"], places())
    assert list(shipped) == ["bridge.py", "mem0_driver.py"]
    assert shipped["bridge.py"] == digest_file(SYSTEMS / "bridge.py")
