"""`table`: a sweep's results, to be put into a text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import plugins, register


@register("command", "table")
class Table(Command):
    """Print a sweep's result table in Markdown."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("sweep", metavar="SWEEP", help="directory of a sweep")
        parser.add_argument("--budget", help="only this budget")
        parser.add_argument(
            "--into",
            metavar="FILE[#NAME]",
            help="replace the text between the markers in this file",
        )

    def run(self, args: argparse.Namespace) -> int:
        return table(args)


def table(args: argparse.Namespace) -> int:
    """Print a sweep's result table in Markdown, or put it into a file between its markers."""
    from framework.analysis.doubts import doubts_of
    from framework.analysis.evidence import of_sweep
    from framework.reporting.markdown import blocks_markdown, print_or_put
    from framework.reporting.sections.overview import main_tables
    from framework.store.directory import SWEEP
    from framework.store.sweep import read_sweep

    path = Path(args.sweep)
    if not (path / SWEEP).is_file():
        raise UserError(f"{args.sweep} has no {SWEEP}: not a finished sweep")
    sweep = read_sweep(path)
    for doubt in doubts_of(path, sweep):
        print(f"warning: {doubt}", file=sys.stderr)
    own = [t for section in plugins("section") for t in section.cls().result_tables(path)]
    tables = own or list(main_tables(of_sweep(sweep), args.budget))
    if not tables:
        raise UserError(f"no budget {args.budget!r} in the sweep")
    text = blocks_markdown(tables, brief=True)
    print_or_put(text, args.into)
    return 0
