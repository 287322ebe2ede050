"""What a run is made of: versions, digests, seeds; and what of it has changed since."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Final

from framework.config import Plan
from framework.errors import DataError
from framework.models.prices import prices_digest
from framework.store import MANIFEST
from framework.text.canonical import digest, digest_file
from framework.text.reading import read_json
from framework.text.tokens import TOKENIZER

_PROJECT: Final = "decisionbench"
_CODE: Final = frozenset({".py", ".yaml", ".md", ".txt", ".json", ".sql"})
_NAME: Final = re.compile(r"[\w.-]+")


def manifest(plan: Plan, data: Mapping[str, Any]) -> dict[str, Any]:
    """Versions, digests, seeds and the command line of a run."""
    return {
        "identity": plan.digest,
        "rows_identity": plan.rows_digest,
        "seed": plan.top.seed,
        "argv": list(plan.overrides),
        "tokenizer": TOKENIZER,
        "prices": prices_digest(),
        "prompts": plan.prompt_digests,
        "data": dict(data),
        "plugins": {
            group: {"name": part.plugin.name, "code": digest_file(_source(part.plugin.cls))}
            for group, part in sorted(plan.used.items())
        },
        "framework": _code_of("framework"),
        "packages": {name: _code_of(name) for name in sorted(_packages(plan) - {"framework"})},
        "versions": {
            "python": platform.python_version(),
            _PROJECT: _version(_PROJECT),
            **{name: _version(name) for name in _required()},
        },
    }


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a directory; empty where there is none that can be read."""
    try:
        found = read_json((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def changed_since(path: Path, plan: Plan) -> list[str]:
    """What a run was begun with and is no longer so: plugins' code, the framework's, versions."""
    if not (began := read_manifest(path)):
        raise DataError(path / MANIFEST, None, "missing or not JSON")
    now = manifest(plan, {})
    changed = [
        f"{group}={plugin['name']}"
        for group, plugin in now["plugins"].items()
        if plugin != began["plugins"].get(group)
    ]
    changed += [key for key in ("framework", "tokenizer") if now[key] != began[key]]
    there = began.get("packages", now["packages"])  # runs of before had none
    changed += [name for name, code in now["packages"].items() if there.get(name, code) != code]
    return changed + [
        f"{name} {began['versions'][name]} -> {new}"
        for name, new in now["versions"].items()
        if began["versions"].get(name, new) != new
    ]


def _packages(plan: Plan) -> set[str]:
    """The packages that the plugins of a run are of."""
    return {part.plugin.cls.__module__.partition(".")[0] for part in plan.used.values()}


@cache
def _code_of(package: str) -> str:
    """The digest of a package's code, prompts and tables, or of a module's one file."""
    file = Path(str(sys.modules[package].__file__))
    below = file.parent.rglob("*") if file.name == "__init__.py" else [file]
    files = [path for path in below if path.suffix in _CODE]
    return digest({str(p.relative_to(file.parent)): digest_file(p) for p in sorted(files)})


def _source(cls: type[Any]) -> str:
    return str(sys.modules[cls.__module__].__file__)


def _required() -> list[str]:
    """The packages that the project needs, extras apart, in order."""
    try:
        lines = requires(_PROJECT) or []
    except PackageNotFoundError:
        return []
    return sorted(_NAME.match(line)[0] for line in lines if "extra ==" not in line)  # type: ignore[index]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
