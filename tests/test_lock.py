"""Every pinned version has a hash, and the lock is of these versions alone."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
PINNED = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)")
HASHED = re.compile(r"([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")


def lines_of(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def test_the_lock_has_a_hash_for_every_pinned_version_and_no_other() -> None:
    pinned = {}
    for line in lines_of("constraints.txt"):
        found = PINNED.match(line)
        assert found, line
        pinned[re.sub(r"[-_.]+", "-", found[1]).lower()] = found[2]
    locked = {}
    for line in lines_of("constraints.lock"):
        hashed = HASHED.fullmatch(line)
        assert hashed, line
        assert hashed[1] not in locked, line
        locked[hashed[1]] = hashed[2]
    assert locked == pinned


def test_what_is_pinned_runs_on_the_oldest_python_that_is_promised() -> None:
    """Debian 12 has Python 3.11.2, on which a pin for 3.11.5 and later can't be installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = f"{project['requires-python'].removeprefix('>=')}.0"
    found = (PINNED.match(line) for line in lines_of("constraints.txt"))
    pinned = {one[1]: one[2] for one in found if one}
    checked = [one for one in distributions() if one.metadata["Name"] in pinned]
    assert len(checked) > 100
    too_new = {
        one.metadata["Name"]: needs
        for one in checked
        if (needs := one.metadata.get("Requires-Python"))
        and one.version == pinned[one.metadata["Name"]]
        and not SpecifierSet(needs).contains(oldest)
    }
    assert too_new == {}
