"""What speaks against the opening of held-out cases: opened before or since, or a register lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from framework.errors import DataError
from framework.store.openings import entries


def flags(opening: Mapping[str, Any], path: Path | None = None) -> Iterator[str]:
    """What speaks against one opening, as `register` returned it, in a sentence each.

    The cases had been opened before; and, where `path` names a register, they were since, or it is
    missing, damaged, or no longer holds the entry.
    """
    if opening["number"] > 1:
        yield f"TEST had been opened before, by {', '.join(opening['before'])}"
    if path is None:
        return
    try:
        known = entries(path)
    except DataError as error:
        yield f"the register of what was opened is damaged: {error}"
        return
    if not known:
        yield f"the register {path.name} is missing: whether TEST was opened again can't be told"
        return
    own = next((entry for entry in known if entry.hash == opening["head"]), None)
    if own is None:
        yield f"the register {path.name} lacks this opening of TEST: shortened or rewritten"
        return
    later = [
        entry.payload["run"]
        for entry in known
        if entry.seq > own.seq and entry.payload["digest"] == opening["digest"]
    ]
    if later:
        yield f"TEST was opened again since, by {', '.join(later)}"
