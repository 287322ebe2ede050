"""`python -m decisionbench_gate.place DIR`: whether DIR holds a run, and nothing else.

Exit status 0, or 2 and why not in one line. It is a command as it asks the plugins which files
a run may have, and in a caller's process `plugins` may be a package of theirs.
"""

from __future__ import annotations

import sys
from pathlib import Path


def problem(path: Path) -> str | None:
    """Why a directory must not be removed as an old run; None where it may be."""
    from framework.errors import UserError
    from framework.store import MANIFEST
    from framework.store.directory import strangers
    from framework.store.state import first_event

    told = f"{path} exists already and "
    try:
        started = first_event(path).payload
        if not (path / MANIFEST).is_file():
            return f"{told}holds no run; choose another directory"
        strange = next(strangers(path, started), None)
    except (UserError, OSError, LookupError, TypeError):
        return f"{told}holds no run; choose another directory"
    return strange and f"{told}holds more than a run ({strange}); choose another directory"


def main(path: str) -> int:
    """Say on stderr what is in the way, and return the exit status."""
    found = problem(Path(path))
    if found:
        print(f"error: {found}", file=sys.stderr)
    return 2 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
