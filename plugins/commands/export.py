"""`export`: a run in another system's format."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import register
from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.contracts.exporter import Exporter


@register("command", "export")
class Export(Command):
    """Write a run in another system's format."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="directory of a run")
        parser.add_argument(
            "--to", required=True, metavar="SYSTEM", help="the format (see `list exporter`)"
        )
        parser.add_argument("path", metavar="PATH", help="the file to write; it must not exist")
        parser.add_argument(
            "cases", nargs="*", metavar="case=ID", help="only these cases, if SYSTEM supports it"
        )

    def run(self, args: argparse.Namespace) -> int:
        return export(args)


def export(args: argparse.Namespace) -> int:
    """Write a run as a file that the other system's own tools open."""
    from framework.registry import find

    exporter: Exporter = find("exporter", args.to).cls()
    run, target = Path(args.run), Path(args.path)
    if wrong := [word for word in args.cases if not word.startswith("case=")]:
        raise UserError(f"export: {wrong[0]!r} is not of the form case=ID")
    if args.cases and not exporter.of_cases:
        raise UserError(f"export --to {args.to} takes whole runs; leave out {args.cases[0]}")
    cases = [word.removeprefix("case=") for word in args.cases]
    if target.exists():
        raise UserError(f"{target}: exists already; choose another file")
    if not target.parent.is_dir():
        raise UserError(f"{target.parent}: no such directory")
    if run.name in ("", ".."):  # what is exported is named after it
        run = run.resolve()
    with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as draft:
        n = exporter.write(run, Path(draft).resolve() / target.name, cases)
        (Path(draft) / target.name).rename(target)
    opens = exporter.opens.format(target.resolve())
    print(f"{counted(n, exporter.counts)}; open it with: {opens}")
    return 0
