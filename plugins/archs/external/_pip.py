"""An environment of pip's packages.

A lock is a requirements file: `NAME==VERSION --hash=sha256:...` for each package, and no index. pip
looks where its own configuration says (PIP_INDEX_URL, PIP_FIND_LINKS, ...).
"""

from __future__ import annotations

import importlib.util
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from framework.errors import UserError
from framework.text.reading import read_json
from plugins.archs.external._environment import LONGEST, Environment, done


@dataclass(frozen=True, slots=True, kw_only=True)
class PipEnvironment(Environment):
    """A venv of the interpreter that runs this."""

    ends: ClassVar[str] = ".lock"
    pinned: ClassVar[str] = r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?==[\w.!+-]+"
    form: ClassVar[str] = (
        "NAME==VERSION expected (of npm: NAME@VERSION, and a lock NAME.package-lock.json)"
    )
    placeholders: ClassVar[tuple[str, ...]] = ("bin", "python")

    @property
    def runtime(self) -> str:
        return f"py{sys.version_info[0]}{sys.version_info[1]}"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    def resolve(self) -> tuple[str, int]:
        words = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
        words += self.packages
        if importlib.util.find_spec("pip") is not None:
            report = read_json(_pip(Path(sys.executable), self.name, words))
        else:
            with self.scratch() as making:
                _venv(making)
                report = read_json(_pip(making / "bin" / "python", self.name, words))
        lines = sorted(_line(found) for found in report["install"])
        asked = " ".join(self.packages)
        return f"# {asked}\n# {_here()}\n" + "\n".join(lines) + "\n", len(lines)

    def check(self) -> None:
        locked = {_plain(line.split(" ")[0]) for line in self.lock.read_text().splitlines()}
        for package in self.packages:
            if _plain(package) not in locked:
                raise self.lacks(package)

    @property
    def size(self) -> int:
        return len(re.findall(r"^[^#\s]", self.lock.read_text(), re.MULTILINE))

    def install(self) -> None:
        _venv(self.folder)
        # The lock has them all: what one asks of another (`pydantic[email]`) has no hash.
        words = ["install", "--quiet", "--require-hashes", "--no-deps"]
        try:
            _pip(self.bin / "python", self.name, [*words, "-r", str(self.lock)])
        except UserError as error:
            made = re.search(r"^# (Python .*)$", self.lock.read_text(), re.MULTILINE)
            if made is None or _without_patch(made[1]) == _without_patch(_here()):
                raise
            raise UserError(f"{error} (the lock is of {made[1]}, this is {_here()})") from None
        _pip(self.bin / "python", self.name, ["check"])


def _here() -> str:
    """What a lock is made for, as its second line says it."""
    return f"Python {platform.python_version()}, {sys.platform} {platform.machine()}"


def _without_patch(made: str) -> str:
    """Without what of a version of Python makes no difference to its packages."""
    return re.sub(r"(\d+\.\d+)\.\S+,", r"\1,", made)


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
        raise UserError(f"{told['name']}: pip reports no hash for it")
    return f"{_plain(told['name'] + '==' + told['version'])} --hash=sha256:{digest}"


def _venv(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The interpreter that an environment of ours was made from: one inside of one would hang on it.
    base = getattr(sys, "_base_executable", sys.executable)
    ended = done([base, "-m", "venv", str(folder)])
    if ended.returncode != 0:
        said = (ended.stdout + ended.stderr).strip().splitlines() or [""]
        raise UserError(f"no environment could be made in {folder}: {said[-1][:LONGEST]}")


def _pip(python: Path, name: str, words: Sequence[str]) -> str:
    """What pip says. Raises UserError with its first error."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    ended = done(command)
    if ended.returncode != 0:
        said = ended.stderr if ended.stderr.strip() else ended.stdout
        lines = [" ".join(line.split()) for line in said.splitlines()]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")]
        if any("DO NOT MATCH THE HASHES" in error for error in errors):
            named = next((line for line in lines if line.startswith(("Expected", "Got"))), "")
            package = lines[max(0, lines.index(named) - 1)] if named else ""
            raise UserError(f"{name}: a package is not what the lock says it is: {package}")
        raise UserError(f"{name}: pip: {(errors or lines[-1:] or ['failed'])[0][:LONGEST]}")
    return ended.stdout
