"""An environment of its own for a system's packages: made from a lock, where it is not there yet.

A lock is a requirements file of pip's: `NAME==VERSION --hash=sha256:...` for each package, and no
index. pip looks where its own configuration says (PIP_INDEX_URL, PIP_FIND_LINKS, ...).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.errors import UserError
from framework.store.atomic import lock, write_text
from framework.text.reading import read_json

PINNED: Final = r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?==[\w.!+-]+"
_DONE: Final = "complete"
"""A file in an environment that was made to its end."""
_LONGEST: Final = 300
_INSTALL_S: Final = 1800.0
"""The longest that an installation may take, of another process too."""


def root() -> Path:
    """Where environments are: `DECISIONBENCH_ENVIRONMENTS`, or in the user's cache."""
    given = os.environ.get("DECISIONBENCH_ENVIRONMENTS")
    return Path(given or "~/.cache/decisionbench/environments").expanduser().absolute()


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The environment that a lock describes. packages : what was asked for, pinned."""

    lock: Path
    packages: tuple[str, ...]

    @property
    def name(self) -> str:
        """The lock's."""
        return self.lock.stem

    @property
    def digest(self) -> str:
        """Of what the lock says, its comments apart; empty where there is no lock."""
        try:
            lines = self.lock.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return ""
        said = "\n".join(line.strip() for line in lines if not line.startswith("#"))
        return hashlib.sha256(said.encode()).hexdigest()

    @property
    def folder(self) -> Path:
        """Where it is, or would be: by the lock, and the interpreter that it is made for."""
        python = f"{sys.version_info[0]}{sys.version_info[1]}"
        return root() / f"{self.name}-{self.digest[:12]}-py{python}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def is_there(self) -> bool:
        """Whether it was made to its end."""
        return bool(self.digest) and (self.folder / _DONE).is_file()

    def require(self) -> None:
        """Raise UserError where it is not there."""
        if not self.is_there:
            raise UserError(
                f"{self.name} needs its environment: decisionbench env create {self.name}"
            )

    def create(self) -> Iterator[str]:
        """Make it, where it is not there; a line for each step. Raises UserError where pip fails.

        Without a lock the packages are resolved first, and the lock is written.
        """
        with _alone(self.name):
            if not self.lock.is_file():
                yield f"{self.name}: resolving {', '.join(self.packages)}"
                n = self._resolve()
                yield f"{self.name}: {n} packages, written to {self.lock}"
            self._check()
            if self.is_there:
                yield f"{self.name}: there already: {self.folder}"
                return
            yield f"{self.name}: installing into {self.folder}"
            shutil.rmtree(self.folder, ignore_errors=True)
            _venv(self.folder)
            try:
                # The lock has them all: what one asks of another (`pydantic[email]`) has no hash.
                words = ["install", "--quiet", "--require-hashes", "--no-deps"]
                _pip(self.python, self.name, [*words, "-r", str(self.lock)])
                _pip(self.python, self.name, ["check"])
            except BaseException:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
            write_text(self.folder / _DONE, f"{self.digest}\n")
            yield f"{self.name}: done"

    def _resolve(self) -> int:
        """Write the lock by what pip would install now; how many packages that is."""
        words = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
        words += self.packages
        if importlib.util.find_spec("pip") is not None:
            report = read_json(_pip(Path(sys.executable), self.name, words))
        else:
            making = root() / f".resolving-{self.name}-{os.getpid()}"
            try:
                _venv(making)
                report = read_json(_pip(making / "bin" / "python", self.name, words))
            finally:
                shutil.rmtree(making, ignore_errors=True)
        lines = sorted(_line(found) for found in report["install"])
        asked = " ".join(self.packages)
        made = f"Python {platform.python_version()}, {sys.platform} {platform.machine()}"
        try:
            write_text(self.lock, f"# {asked}\n# {made}\n" + "\n".join(lines) + "\n")
        except OSError as error:
            raise UserError(f"{self.lock}: can't be written: {error.strerror}") from None
        return len(lines)

    def _check(self) -> None:
        """Raise UserError where the lock is of other packages than are asked for."""
        locked = {_plain(line.split(" ")[0]) for line in self.lock.read_text().splitlines()}
        for package in self.packages:
            if _plain(package) not in locked:
                raise UserError(
                    f"{self.lock} does not have {package}: remove it, and create it again"
                )


def made() -> list[tuple[str, bool]]:
    """The folders' names of the environments that are there, and whether each is complete."""
    if not root().is_dir():
        return []
    folders = sorted(path for path in root().iterdir() if path.is_dir() and path.name[0] != ".")
    return [(path.name, (path / _DONE).is_file()) for path in folders]


def remove(name: str) -> list[str]:
    """Remove the environments of a name, whatever their locks; their folders' names."""
    with _alone(name):
        found = [folder for folder, _ in made() if folder.rsplit("-", 2)[0] == name]
        for folder in found:
            shutil.rmtree(root() / folder)
    return found


def _plain(requirement: str) -> str:
    """A pinned requirement in one of its spellings: `Mem0_AI[nlp]==1` as `mem0-ai==1`."""
    name, _, version = re.sub(r"\[.*?\]", "", requirement).partition("==")
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"


def _line(found: dict[str, Any]) -> str:
    """A line of a lock, from an entry of pip's report."""
    told, info = found["metadata"], found["download_info"]
    archive = info.get("archive_info", {})
    digest = archive.get("hashes", {}).get("sha256") or archive.get("hash", "=").split("=")[1]
    if not digest:
        raise UserError(f"{told['name']}: pip tells no hash of it")
    return f"{_plain(told['name'] + '==' + told['version'])} --hash=sha256:{digest}"


def _venv(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The interpreter that an environment of ours was made from: one inside of one would hang on it.
    base = getattr(sys, "_base_executable", sys.executable)
    done = _done([base, "-m", "venv", str(folder)])
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines() or [""]
        raise UserError(f"no environment could be made in {folder}: {said[-1][:_LONGEST]}")


def _pip(python: Path, name: str, words: Sequence[str]) -> str:
    """What pip says. Raises UserError with its first error."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    done = _done(command)
    if done.returncode != 0:
        said = done.stderr if done.stderr.strip() else done.stdout
        lines = [" ".join(line.split()) for line in said.splitlines()]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")]
        if any("DO NOT MATCH THE HASHES" in error for error in errors):
            named = next((line for line in lines if line.startswith(("Expected", "Got"))), "")
            package = lines[max(0, lines.index(named) - 1)] if named else ""
            raise UserError(f"{name}: a package is not what the lock says it is: {package}")
        raise UserError(f"{name}: pip: {(errors or lines[-1:] or ['failed'])[0][:_LONGEST]}")
    return done.stdout


def _done(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_INSTALL_S
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{' '.join(command[1:4])} took longer than {_INSTALL_S:g} s") from None


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """While no other process makes or removes an environment of this name."""
    root().mkdir(parents=True, exist_ok=True)
    with (root() / f".{name}.busy").open("w") as file:
        lock(file.fileno(), _INSTALL_S, f"the environment {name}")
        yield
