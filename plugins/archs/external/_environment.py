"""An environment of its own for a system's packages: made from a lock, where it is not there yet.

A lock has every package with its hash and says nothing of where it comes from. What installs it,
pip (_pip.py) or npm (_npm.py), looks where its own configuration says.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from framework.errors import UserError
from framework.store.atomic import lock, write_text
from framework.text.counting import counted

LONGEST: Final = 300
"""Characters of what a program said that an error repeats."""
_DONE: Final = "complete"
"""A file in an environment that was made to its end."""
_INSTALL_S: Final = 1800.0
"""The longest that an installation may take, of another process too."""
_log: Final = logging.getLogger("framework.memories")


def root() -> Path:
    """Where environments are: `DECISIONBENCH_ENVIRONMENTS`, or in the user's cache."""
    given = os.environ.get("DECISIONBENCH_ENVIRONMENTS")
    return Path(given or "~/.cache/decisionbench/environments").expanduser().absolute()


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(ABC):
    """The environment that a lock describes. packages : what was asked for, pinned."""

    ends: ClassVar[str]
    """How the names of its locks end."""
    pinned: ClassVar[str]
    """The pattern of a pinned package."""
    form: ClassVar[str]
    """That pattern, for a person."""
    placeholders: ClassVar[tuple[str, ...]] = ("bin",)
    """What a command may have of it."""

    lock: Path
    packages: tuple[str, ...]

    @property
    @abstractmethod
    def runtime(self) -> str:
        """The interpreter that it is made for, as a part of its folder's name."""

    @property
    @abstractmethod
    def bin(self) -> Path:
        """The folder of its programs."""

    @abstractmethod
    def resolve(self) -> tuple[str, int]:
        """A lock by what would be installed now, and of how many packages it is."""

    @abstractmethod
    def check(self) -> None:
        """Raise UserError where the lock is none, or of other packages than are asked for."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many packages the lock has."""

    @abstractmethod
    def install(self) -> None:
        """Make the folder from the lock."""

    @property
    def name(self) -> str:
        """The lock's."""
        return self.lock.name.removesuffix(self.ends)

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
        return root() / f"{self.name}-{self.digest[:12]}-{self.runtime}"

    @property
    def is_there(self) -> bool:
        """Whether it was made to its end."""
        return bool(self.digest) and (self.folder / _DONE).is_file()

    def require(self, *, install: bool) -> None:
        """Have it there, made now if `install`. Raises UserError, with the command that makes it.

        Without a lock it is not made on the way: a lock is part of the identity that a run has.
        """
        if self.is_there:
            return
        command = f"decisionbench env create {self.name}"
        if not install or not self.digest:
            raise UserError(f"{self.name} needs its environment: {command}")
        try:
            for line in self.create():
                _log.info("%s", line)
        except UserError as error:
            raise UserError(f"{error}; to try again: {command}") from None

    def create(self) -> Iterator[str]:
        """Make it, where it is not there; a line for each step. Raises UserError where that fails.

        Without a lock the packages are resolved first, and the lock is written.
        """
        with _alone(self.name):
            if not self.lock.is_file():
                yield f"{self.name}: resolving {', '.join(self.packages)}"
                text, n = self.resolve()
                try:
                    write_text(self.lock, text)
                except OSError as error:
                    raise UserError(f"{self.lock}: can't be written: {error.strerror}") from None
                yield f"{self.name}: {n} packages, written to {self.lock}"
            self.check()
            if self.is_there:
                yield f"{self.name}: there already: {self.folder}"
                return
            packages = f"{counted(self.size, 'package')} by the hashes of {self.lock}"
            yield f"{self.name}: installing {packages} into {self.folder}"
            shutil.rmtree(self.folder, ignore_errors=True)
            try:
                self.install()
            except BaseException:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
            write_text(self.folder / _DONE, f"{self.digest}\n")
            yield f"{self.name}: done"

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """The place of a folder to resolve in, gone afterwards."""
        making = root() / f".resolving-{self.name}-{os.getpid()}"
        shutil.rmtree(making, ignore_errors=True)
        try:
            yield making
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def lacks(self, package: str) -> UserError:
        """The error of a lock that is of others."""
        return UserError(f"{self.lock} does not have {package}: remove it, and create it again")


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


def done(command: Sequence[str], place: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a command did, started in a place. Raises UserError where it can't be, or hangs."""
    try:
        return subprocess.run(
            command, cwd=place, capture_output=True, text=True, check=False, timeout=_INSTALL_S
        )
    except OSError as error:
        raise UserError(f"{command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{' '.join(command[1:4])} took longer than {_INSTALL_S:g} s") from None


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """While no other process makes or removes an environment of this name."""
    root().mkdir(parents=True, exist_ok=True)
    with (root() / f".{name}.busy").open("w") as file:
        lock(file.fileno(), _INSTALL_S, f"the environment {name}")
        yield
