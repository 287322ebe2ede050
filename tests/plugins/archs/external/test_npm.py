"""A system's environment of npm's packages: made by its lock, by a stub of npm, or refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from framework.errors import UserError
from framework.registry import find, identity_of, settings_of
from tests.plugins.archs.external.systems import HERE
from tests.plugins.archs.external.test_environment import env, started

NPM = """#!/bin/sh
place='{place}'
echo "$*" >> "$place/asked"
if [ -f "$place/said" ]; then mkdir node_modules; cat "$place/said" >&2; exit 1; fi
case $1 in
    install) cp "$place/resolved.json" package-lock.json ;;
    ci) mkdir -p node_modules/.bin && cp "$place/toy-memory" node_modules/.bin ;;
esac
"""
MISSING = "toy needs its environment: decisionbench env create toy"
RESOLVED: dict[str, Any] = {
    "name": ".resolving",
    "lockfileVersion": 3,
    "packages": {
        "": {"dependencies": {"@toys/memory": "1.0.0"}},
        "node_modules/@toys/memory": {
            "version": "1.0.0",
            "integrity": "sha512-b25l",
            "license": "MIT",
            "funding": {"url": "https://pay.example"},
            "dependencies": {"parts": "^2.0.0"},
        },
        "node_modules/@toys/memory/node_modules/parts": {
            "version": "2.0.1",
            "integrity": "sha512-dHdv",
        },
    },
}


def program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def place(runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to start in, with a mapping of a package; node and npm are stubs on PATH."""
    (runs_dir / "arch").mkdir()
    (runs_dir / "bin").mkdir()
    program(runs_dir / "bin/npm", NPM.format(place=runs_dir))
    program(runs_dir / "bin/node", "#!/bin/sh\necho v20.3.1\n")
    program(runs_dir / "toy-memory", f"#!/bin/sh\nexec sh {HERE / 'memory.sh'}\n")
    monkeypatch.setenv("PATH", str(runs_dir / "bin"), prepend=":")
    monkeypatch.setenv("DECISIONBENCH_ENVIRONMENTS", str(runs_dir / "environments"))
    monkeypatch.chdir(runs_dir)
    mapping = {
        "defaults": ["process", "_self_"],
        "packages": ["@toys/memory@1.0.0"],
        "lock": "{here}/toy.package-lock.json",
        "command": ["{bin}/toy-memory"],
    }
    (runs_dir / "arch/toy.yaml").write_text(json.dumps(mapping))
    (runs_dir / "resolved.json").write_text(json.dumps(RESOLVED))
    return runs_dir


def lock(place: Path, *, of: dict[str, Any] = RESOLVED, **parts: Any) -> None:
    """Write the lock; parts : what `parts`, a package in it, has besides."""
    whole = json.loads(json.dumps(of))
    whole["packages"]["node_modules/@toys/memory/node_modules/parts"] |= parts
    (place / "toy.package-lock.json").write_text(json.dumps(whole))


@pytest.mark.slow
def test_from_a_mapping_to_a_run_in_an_environment_of_its_own(
    capsys: pytest.CaptureFixture[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert started(capsys).mistake == MISSING
    made = env(capsys, "create", "toy")
    assert made.status == 0, made.err
    assert "toy: 2 packages, written to" in made.out
    text = (place / "toy.package-lock.json").read_text()
    assert not [word for word in ("http", "license", ".resolving") if word in text]
    assert json.loads(text)["packages"].keys() == RESOLVED["packages"].keys()
    resolved, installed = (place / "asked").read_text().splitlines()
    assert resolved.startswith("install --package-lock-only --omit-lockfile-registry-resolved ")
    assert installed.startswith("ci ")
    for asked in (resolved, installed):
        assert asked.endswith("--ignore-scripts --no-audit --no-fund --loglevel=error")

    assert "there already" in env(capsys, "create", "toy").out
    (folder,) = env(capsys, "list").out.split()
    assert folder.startswith("toy-")
    assert folder.endswith("-node20")
    declared = json.loads((place / "environments" / folder / "package.json").read_text())
    assert declared["dependencies"] == {"@toys/memory": "1.0.0"}
    done = started(capsys)
    assert done.status == 0, done.err

    (place / "newer").mkdir()
    program(place / "newer/node", "#!/bin/sh\necho v22.0.0\n")
    with monkeypatch.context() as changed:
        changed.setenv("PATH", str(place / "newer"), prepend=":")
        # It is of another node.
        assert started(capsys, "arch.install=false").mistake == MISSING
    assert env(capsys, "remove", "toy").out == f"{folder}: removed\n"
    assert started(capsys, "arch.install=false").mistake == MISSING
    again = started(capsys)
    assert again.status == 0, again.err
    assert "toy: installing 2 packages by the hashes of " in again.err


def test_of_several_that_want_it_at_once_one_makes_it(place: Path) -> None:
    lock(place)
    given = {
        "packages": ["@toys/memory@1.0.0"],
        "lock": "{here}/toy.package-lock.json",
        "command": ["{bin}/toy-memory"],
    }
    own = settings_of(find("arch", "process"), given).own_environment
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: own.require(install=True), range(4)))
    assert own.is_there
    (installed,) = (place / "asked").read_text().splitlines()
    assert installed.startswith("ci ")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        pytest.param(
            "npm error code EINTEGRITY\nnpm error Integrity checksum failed when using sha512: "
            "wanted sha512-dHdv but got sha512-b3Ro.\n",
            "toy: a package is not what the lock says it is: parts",
            id="mismatch",
        ),
        pytest.param(
            "npm ERR! code EINTEGRITY\nnpm ERR! sha512-b25 integrity checksum failed\n",
            "toy: a package is not what the lock says it is: sha512-b25 integrity checksum failed",
            id="mismatch of a package that is not named",
        ),
        pytest.param(
            "npm error code E404\nnpm error 404 Not Found - GET parts\nnpm error more of it\n",
            "toy: npm: 404 Not Found - GET parts",
            id="not found",
        ),
        pytest.param(
            "npm error code EUSAGE\nnpm error `npm ci` can only install packages\n"
            "npm error Missing: parts@2.0.1 from lock file\n",
            "{lock} does not have parts@2.0.1: remove it, and create it again",
            id="a lock that lacks one",
        ),
        pytest.param("/bin/npm: broken\n", "toy: npm: /bin/npm: broken", id="no error of npm's"),
        pytest.param("", "toy: npm: failed", id="nothing"),
    ],
)
def test_what_npm_refuses_is_one_line_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], place: Path, said: str, told: str
) -> None:
    lock(place)
    (place / "said").write_text(said)
    done = env(capsys, "create", "toy")
    assert (done.status, done.err) == (
        2,
        f"error: {told.format(lock=place / 'toy.package-lock.json')}\n",
    )
    assert env(capsys, "list").out.startswith("no environments")


def test_what_can_not_be_resolved_leaves_no_lock(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    (place / "said").write_text("npm error code ETARGET\nnpm error notarget No such version\n")
    done = env(capsys, "create", "toy")
    assert done.err == "error: toy: npm: notarget No such version\n"
    (place / "said").unlink()
    linked = json.dumps(RESOLVED).replace('"integrity": "sha512-dHdv"', '"link": true')
    (place / "resolved.json").write_text(linked)
    assert env(capsys, "create", "toy").err.endswith("package-lock.json: parts has no integrity\n")
    assert not (place / "toy.package-lock.json").exists()
    assert [file.name for file in (place / "environments").iterdir()] == [".toy.busy"]


def test_without_npm_it_is_one_line(
    capsys: pytest.CaptureFixture[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(place)
    monkeypatch.setenv("PATH", str(place / "nothing"))
    told = "error: toy: npm, which comes with Node.js, is not on this machine"
    first = started(capsys)
    assert first.status == 2
    command = "decisionbench env create toy"
    assert first.err.splitlines()[1:] == [f"{told}; to try again: {command}"]
    done = env(capsys, "create", "toy")
    assert done.err == f"{told}\n"
    assert env(capsys, "list").out.startswith("no environments")


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        pytest.param({"integrity": None}, "parts has no integrity", id="no integrity"),
        pytest.param(
            {"resolved": "file:parts.tgz"}, "parts says where it comes from", id="a place"
        ),
    ],
)
def test_a_lock_that_does_not_say_what_a_package_is_or_says_where_is_refused(
    capsys: pytest.CaptureFixture[str], place: Path, parts: dict[str, Any], told: str
) -> None:
    lock(place, **parts)
    done = env(capsys, "create", "toy")
    assert told in done.mistake
    assert not (place / "asked").exists()


def test_a_lock_of_other_packages_or_of_none_is_told(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    lock(place)
    done = env(capsys, "create", "toy", "arch.packages=['@toys/memory@1.0.1']")
    assert done.mistake.endswith(
        "toy.package-lock.json does not have @toys/memory@1.0.1: remove it, and create it again"
    )
    for text, told in (
        ('{"lockfileVersion": 1, "dependencies": {}}', "not an npm lock of version 2 or 3"),
        ("[]", "not an npm lock of version 2 or 3"),
        ("toymemory==1.0", "Expecting value: line 1 column 1 (char 0)"),
    ):
        (place / "toy.package-lock.json").write_text(text)
        assert env(capsys, "create", "toy").mistake.endswith(f"toy.package-lock.json: {told}")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"packages": ["@a/b"]}, "'@a/b' given, NAME@VERSION expected", id="unpinned"),
        pytest.param({"packages": ["b@^1.0.0"]}, "'b@^1.0.0' given, NAME@VERSION", id="a range"),
        pytest.param({"packages": ["b@latest"]}, "'b@latest' given, NAME@VERSION", id="a tag"),
        pytest.param({"packages": ["b==1.0"]}, "'b==1.0' given, NAME@VERSION", id="of pip"),
        pytest.param(
            {"packages": ["@a/b@1.0.0"], "lock": "{here}/b.lock"},
            "'@a/b@1.0.0' given, NAME==VERSION expected (of npm: NAME@VERSION",
            id="under a lock of pip's",
        ),
        pytest.param(
            {"packages": ["b@1.0.0"], "command": ["{python}", "b.py"]},
            "packages: {python} is the interpreter of pip's packages, and none is declared",
            id="python",
        ),
        pytest.param(
            {"command": ["{bin}/b"]}, "packages: {bin} is the folder of", id="no packages"
        ),
    ],
)
def test_a_mistake_in_a_mapping_is_one_line(given: dict[str, Any], said: str) -> None:
    given = {"lock": "{here}/b.package-lock.json", **given}
    with pytest.raises(UserError, match="arch=process: ") as told:
        settings_of(find("arch", "process"), given)
    assert said in str(told.value)


def test_the_lock_is_part_of_the_identity(place: Path) -> None:
    plugin = find("arch", "process")
    given = {"packages": ["@toys/memory@1.0.0"], "lock": "{here}/toy.package-lock.json"}
    digests = []
    for integrity in ("sha512-dHdv", "sha512-b3Ro"):
        lock(place, integrity=integrity)
        digests.append(identity_of(plugin, settings_of(plugin, given))["lock"])
    assert digests[0] != digests[1]


def test_a_package_of_pip_has_its_programs_too(place: Path) -> None:
    given = {"packages": ["a==1"], "lock": "{here}/a.lock", "command": ["{bin}/a"]}
    settings = settings_of(find("arch", "process"), given)
    assert settings.places["python"] == f"{settings.places['bin']}/python"
    assert settings.places["bin"].startswith(str(place / "environments/a-"))
