"""A system's environment: made by its lock from where pip looks, and refused otherwise."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from framework.cli import main
from framework.errors import UserError
from framework.registry import find, identity_of, settings_of
from tests.launching import HOTPOT, Done, run

DRIVER = """
import bridge
import toymemory


class Memory(toymemory.Store):
    def write(self, event):
        self.texts.append(event["text"])

    def retrieve(self, query, limit):
        return [{"text": text} for text in self.texts[-limit:]]


bridge.serve(Memory())
"""
WHEEL = {
    "toymemory.py": "class Store:\n    def __init__(self): self.texts = []\n    reset = __init__\n",
    "toymemory-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toymemory\nVersion: 1.0\n",
    "toymemory-1.0.dist-info/WHEEL": (
        "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    ),
}


def wheel(folder: Path, files: dict[str, str], name: str = "toymemory") -> None:
    """A package with these files, where pip can find it."""
    files = {path.replace("toymemory-1.0", f"{name}-1.0"): text for path, text in files.items()}
    record = f"{name}-1.0.dist-info/RECORD"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        lines = []
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            lines.append(f"{name},sha256={digest.decode().rstrip('=')},{len(text)}")
        archive.writestr(record, "\n".join([*lines, f"{record},,"]) + "\n")


@pytest.fixture
def place(runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to start in, with a package, a driver and the mapping of both; no network."""
    links, environments = runs_dir / "links", runs_dir / "environments"
    links.mkdir()
    wheel(links, WHEEL)
    for name, value in (
        ("PIP_CONFIG_FILE", "/dev/null"),
        ("PIP_NO_INDEX", "1"),
        ("PIP_FIND_LINKS", str(links)),
        ("DECISIONBENCH_ENVIRONMENTS", str(environments)),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(runs_dir)
    (runs_dir / "driver.py").write_text(DRIVER)
    mapping = {
        "defaults": ["process", "_self_"],
        "packages": ["toymemory==1.0"],
        "lock": "{here}/toy.lock",
        "command": ["{python}", "{here}/driver.py"],
        "environment": {"PYTHONPATH": "{system}"},
    }
    (runs_dir / "arch").mkdir()
    (runs_dir / "arch/toy.yaml").write_text(json.dumps(mapping))
    return runs_dir


def env(capsys: pytest.CaptureFixture[str], *words: str) -> Done:
    """`decisionbench env ...`."""
    capsys.readouterr()
    status = main(["--config-dir", ".", "env", *words])
    out, err = capsys.readouterr()
    return Done(status=status, out=out, err=err)


def started(capsys: pytest.CaptureFixture[str], *words: str) -> Done:
    return run(capsys, *HOTPOT, "n_cases=1", "--config-dir", ".", "arch=toy", *words)


META = "toymemory-1.0.dist-info/METADATA"


def _needs_more(place: Path) -> None:
    """The package asks another for more than it has by default; both are there."""
    parts = {**WHEEL, META: "Metadata-Version: 2.1\nName: toyparts\nVersion: 1.0\n"}
    wheel(place / "links", {**parts, "toyparts.py": ""}, "toyparts")
    asked = f"{WHEEL[META]}Requires-Dist: toyparts[more]>=1.0\n"
    wheel(place / "links", {**WHEEL, META: asked})


@pytest.mark.slow
def test_what_a_package_asks_of_another_needs_no_hash_of_its_own(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    _needs_more(place)
    made = env(capsys, "create", "toy")
    assert made.status == 0, made.err
    locked = (place / "toy.lock").read_text()
    assert "toyparts==1.0 --hash=" in locked
    assert env(capsys, "remove", "toy").status == 0

    (place / "toy.lock").write_text(
        "".join(line for line in locked.splitlines(keepends=True) if "toyparts" not in line)
    )
    lacking = env(capsys, "create", "toy")
    assert lacking.status == 2
    assert "toy: pip: toymemory 1.0 requires toyparts, which is not installed." in lacking.err
    assert env(capsys, "list").out.startswith("no environments")


@pytest.mark.slow
def test_from_a_mapping_to_a_run_in_an_environment_of_its_own(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    missing = "toy needs its environment: decisionbench env create toy"
    assert started(capsys).mistake == missing

    made = env(capsys, "create", "toy")
    assert made.status == 0, made.err
    asked, _, *locked = (place / "toy.lock").read_text().splitlines()
    digest = hashlib.sha256((place / "links/toymemory-1.0-py3-none-any.whl").read_bytes())
    assert asked == "# toymemory==1.0"
    assert locked == [f"toymemory==1.0 --hash=sha256:{digest.hexdigest()}"]
    assert "there already" in env(capsys, "create", "toy").out
    (folder,) = env(capsys, "list").out.split()
    assert folder.startswith("toy-")

    done = started(capsys)
    assert done.status == 0, done.err

    wheel(place / "links", {**WHEEL, "toymemory.py": "import os\n"})
    assert env(capsys, "remove", "toy").out == f"{folder}: removed\n"
    assert "no such environment" in env(capsys, "remove", "toy").mistake
    assert "a package is not what the lock says it is: " in env(capsys, "create", "toy").err
    assert env(capsys, "list").out.startswith("no environments")
    assert started(capsys, "arch.install=false").mistake == missing
    refused = started(capsys)
    assert refused.status == 2
    said, error = refused.err.splitlines()
    assert said.startswith("toy: installing 1 package by the hashes of ")
    assert "a package is not what the lock says it is: " in error
    assert error.endswith("; to try again: decisionbench env create toy")
    assert env(capsys, "list").out.startswith("no environments")


@pytest.mark.slow
def test_the_first_run_makes_the_environment_from_its_lock_and_nothing_else_does(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    assert env(capsys, "create", "toy").status == 0
    (folder,) = env(capsys, "list").out.split()
    assert env(capsys, "remove", "toy").status == 0
    kept = ("arch.exchanges=kept", "arch.canaries=false")

    assert "can't be estimated" in started(capsys, "dry_run=true").mistake
    assert started(capsys, "--cfg", "job").status == 0
    assert env(capsys, "list").out.startswith("no environments")
    first = started(capsys, *kept)
    assert first.status == 0, first.err
    lines = [line for line in first.err.splitlines() if line.startswith("toy: ")]
    into = place / "environments" / folder
    assert lines == [
        f"toy: installing 1 package by the hashes of {place}/toy.lock into {into}",
        "toy: done",
    ]
    assert "toy: " not in started(capsys, *kept).err
    assert env(capsys, "remove", "toy").status == 0
    replayed = started(capsys, *kept, "arch.replay=true")
    assert replayed.status == 0, replayed.err
    assert env(capsys, "list").out.startswith("no environments")


@pytest.mark.slow
def test_a_lock_of_another_platform_that_does_not_fit_says_so(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    made = "Python 2.7.1, plan9 vax"
    (place / "toy.lock").write_text(
        f"# toymemory==1.0\n# {made}\ntoymemory==1.0 --hash=sha256:00\n"
    )
    done = env(capsys, "create", "toy")
    assert done.status == 2
    assert f" (the lock is of {made}, this is Python 3." in done.err


@pytest.mark.slow
def test_what_pip_can_not_find_is_one_line(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    done = env(capsys, "create", "toy", "arch.packages=['toymemory==2.0']")
    assert done.status == 2
    assert done.err.startswith("error: toy: pip: Could not find a version")
    assert done.err.count("\n") == 1
    assert not (place / "toy.lock").exists()


def test_a_lock_of_other_packages_is_told(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    (place / "toy.lock").write_text("other==1.0 --hash=sha256:00\n")
    done = env(capsys, "create", "toy")
    assert done.err.endswith(
        "toy.lock does not have toymemory==1.0: remove it, and create it again\n"
    )


def test_an_arm_without_packages_needs_none(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    done = env(capsys, "create", "bm25")
    assert done.mistake == "arch=bm25 needs no environment of its own"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(
            {"packages": ["mem0ai>=2"]}, "'mem0ai>=2' given, NAME==VERSION", id="unpinned"
        ),
        pytest.param({"packages": ["a==1"]}, "lock: where the hashes", id="no lock"),
        pytest.param({"command": ["{python}"]}, "packages: {python} is", id="no packages"),
        pytest.param({"lock": "{home}/a.lock"}, "lock: no placeholder {home}", id="placeholder"),
    ],
)
def test_a_mistake_in_a_mapping_is_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match="arch=process: ") as told:
        settings_of(find("arch", "process"), given)
    assert said in str(told.value)


def test_the_lock_is_part_of_the_identity_and_its_place_is_not(place: Path) -> None:
    plugin = find("arch", "process")
    plain = settings_of(plugin, {"command": ["sh"]})
    assert not {"packages", "lock", "models"} & identity_of(plugin, plain).keys()
    digests = []
    for name, text in (("a", "a==1 --hash=sha256:0\n"), ("b", "# when\na==1 --hash=sha256:0\n")):
        (place / f"{name}.lock").write_text(text)
        given = {"command": ["sh"], "packages": ["a==1"], "lock": f"{{here}}/{name}.lock"}
        digests.append(identity_of(plugin, settings_of(plugin, given))["lock"])
    assert digests[0] == digests[1] != ""
