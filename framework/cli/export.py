"""`export`: a run's journal in another system's format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import UserError

if TYPE_CHECKING:
    from framework.contracts.exporter import Exporter


def export(args: argparse.Namespace) -> int:
    """Write the journal of a run as a file that the other system's own tools open."""
    from framework.registry import find
    from framework.store import JOURNAL, read

    exporter: Exporter = find("exporter", args.to).cls()
    run, target = Path(args.run), Path(args.path)
    if target.exists():
        raise UserError(f"{target}: exists already; choose another file")
    if not target.parent.is_dir():
        raise UserError(f"{target.parent}: no such directory")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        n = exporter.write(run.resolve().name, read(run / JOURNAL), partial)
        partial.rename(target)
    finally:
        for left in target.parent.glob(f"{partial.name}*"):
            left.unlink()
    print(f"{n} events; look at them: {exporter.opens.format(target.resolve())}")
    return 0
