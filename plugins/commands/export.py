"""`export`: a run's journal in another system's format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import register

if TYPE_CHECKING:
    from framework.contracts.exporter import Exporter


@register("command", "export")
class Export(Command):
    """A run's journal in another system's format."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN")
        parser.add_argument(
            "--to", required=True, metavar="SYSTEM", help="`list exporter` shows them"
        )
        parser.add_argument("path", metavar="PATH", help="the file to write; it must not exist")

    def run(self, args: argparse.Namespace) -> int:
        return export(args)


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
