"""An environment of npm's packages.

A lock is npm's own `package-lock.json` with the `integrity` of every package and no place of any.
npm looks where the user's configuration says.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.errors import UserError
from framework.store.atomic import write_text
from framework.text.reading import read_json
from plugins.archs.external._environment import LONGEST, Environment, done

_WORDS: Final = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_LEFT_OUT: Final = ("funding", "license", "deprecated")
"""Of a package in a lock: for readers, and with addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NpmEnvironment(Environment):
    """A folder with its `node_modules`, for the node that is on PATH."""

    ends: ClassVar[str] = ".package-lock.json"
    pinned: ClassVar[str] = r"(@[\w.~-]+/)?[\w~-][\w.~-]*@\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?"
    form: ClassVar[str] = "NAME@VERSION expected (of pip: NAME==VERSION, and a lock NAME.lock)"

    @property
    def runtime(self) -> str:
        node = shutil.which("node")
        return f"node{_major(node) if node is not None else ''}"

    @property
    def bin(self) -> Path:
        return self.folder / "node_modules" / ".bin"

    def resolve(self) -> tuple[str, int]:
        with self.scratch() as making:
            self._declare(making)
            words = ["install", "--package-lock-only", "--omit-lockfile-registry-resolved"]
            self._npm(making, words)
            whole = self._read(making / "package-lock.json")
        whole.pop("name", None)  # the folder's
        for entry in whole["packages"].values():
            for key in _LEFT_OUT:
                entry.pop(key, None)
        return json.dumps(whole, indent=1) + "\n", len(whole["packages"]) - 1

    def check(self) -> None:
        locked = self._read(self.lock)["packages"].get("", {}).get("dependencies") or {}
        for package in self.packages:
            name, _, version = package.rpartition("@")
            if locked.get(name) != version:
                raise self.lacks(package)

    @property
    def size(self) -> int:
        return len(self._read(self.lock)["packages"]) - 1

    def install(self) -> None:
        self._declare(self.folder)
        shutil.copyfile(self.lock, self.folder / "package-lock.json")
        self._npm(self.folder, ["ci"])

    def _declare(self, folder: Path) -> None:
        """Make a folder that asks for the packages."""
        folder.mkdir(parents=True)
        asked = dict(package.rsplit("@", 1) for package in self.packages)
        write_text(folder / "package.json", json.dumps({"private": True, "dependencies": asked}))

    def _read(self, file: Path) -> dict[str, Any]:
        """What a lock says. Raises UserError where it does not say what each package is."""
        try:
            whole: dict[str, Any] = read_json(file.read_bytes())
            entries = [(_named(place), dict(e)) for place, e in whole["packages"].items() if place]
        except ValueError as error:
            raise UserError(f"{self.lock}: {error}") from None
        except (AttributeError, KeyError, TypeError):
            raise UserError(f"{self.lock}: not an npm lock of version 2 or 3") from None
        for name, entry in entries:
            if not isinstance(entry.get("integrity"), str):
                raise UserError(f"{self.lock}: {name} has no integrity")
            if "resolved" in entry:
                raise UserError(
                    f"{self.lock}: {name} says where it comes from (resolved): remove the lock, "
                    "and create it again"
                )
        return whole

    def _npm(self, folder: Path, words: list[str]) -> None:
        """Have npm do something in a folder. Raises UserError with its first error."""
        npm = shutil.which("npm")
        if npm is None:
            raise UserError(f"{self.name}: npm, which comes with Node.js, is not on this machine")
        ended = done([npm, *words, *_WORDS], folder)
        if ended.returncode == 0:
            return
        lines = [line.removeprefix("npm").split() for line in ended.stderr.splitlines()]
        said = [" ".join(words[1:]) for words in lines if words[:1] in (["error"], ["ERR!"])]
        if words[0] == "ci" and "code EINTEGRITY" in said:
            packages = self._read(folder / "package-lock.json")["packages"]
            raise UserError(
                f"{self.name}: a package is not what the lock says it is: {_of(packages, said)}"
            )
        if missing := [line.split()[1] for line in said if line.startswith("Missing: ")]:
            raise self.lacks(missing[0])
        # `code E404` and `errno -13` come before what they mean.
        told = next((line for line in said if len(line.split()) > 2), ended.stderr.strip())
        raise UserError(f"{self.name}: npm: {(told or 'failed').splitlines()[-1][:LONGEST]}")


@cache
def _major(node: str) -> str:
    """The major version of a node, by which packages are chosen."""
    return done([node, "--version"]).stdout.strip().removeprefix("v").partition(".")[0]


def _named(place: str) -> str:
    return place.rpartition("node_modules/")[2]


def _of(packages: Mapping[str, Mapping[str, Any]], said: list[str]) -> str:
    """The package whose integrity npm's error names; that error, where it names none."""
    for place, entry in packages.items():
        if place and any(entry["integrity"] in line for line in said):
            return _named(place)
    return next((line for line in said if "ntegrity " in line), "EINTEGRITY")[:LONGEST]
