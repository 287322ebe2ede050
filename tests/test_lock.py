"""Every pinned version has a hash, and the lock is of these versions alone."""

from __future__ import annotations

import re
from pathlib import Path

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
