"""`reanalyze`: published tables from recorded rows, as published and corrected."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framework.contracts.command import Command
from framework.contracts.recipe import PrintedTable, Reanalysis
from framework.registry import find, register


@register("command", "reanalyze")
class Reanalyze(Command):
    """Compute a paper's tables from its recorded rows."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("paper", metavar="PAPER", help="the paper (see `list reanalysis`)")
        parser.add_argument(
            "path", metavar="CSV|DIR", help="its recorded rows, or the directory of its loops"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, args: argparse.Namespace) -> int:
        return _reanalyze(args)


def _reanalyze(args: argparse.Namespace) -> int:
    """Print the tables in both conventions and what the correction changes."""
    plugin: Reanalysis = find("reanalysis", args.paper).cls()
    found = plugin.reanalyze(Path(args.path))
    missing = not_reproduced(found.published)
    cells = [cell for table in found.published for _, _, cell in table.cells]
    printed = sum(cell.reproduced is not None for cell in cells)
    if args.json:
        content = {
            "published": _plain(found.published),
            "corrected": _plain(found.corrected),
            "not_reproduced": missing,
            "changes": found.changes,
        }
        print(json.dumps(content, indent=2))
        return 0
    print("AS PUBLISHED\n")
    print("\n\n".join(_as_text(table) for table in found.published))
    print(f"\n{printed - len(missing)} of {printed} printed numbers reproduced; not reproduced:")
    _print_list(missing or ["none"])
    print("\nCORRECTED\n")
    print("\n\n".join(_as_text(table) for table in found.corrected))
    print("\nWHAT CHANGES")
    _print_list(found.changes)
    return 0


def not_reproduced(published: Sequence[PrintedTable]) -> list[str]:
    """The printed numbers that the rows, in the published conventions, do not give."""
    return [
        f"Table {table.number}, {row}, {column}: printed {cell.printed}, the rows give {cell.text}"
        + (" (random draws: depends on the generator and its order)" if cell.drawn else "")
        for table in published
        for row, column, cell in table.cells
        if cell.reproduced is False
    ]


def _as_text(table: PrintedTable) -> str:
    """The table in aligned plain text."""
    head = ("", *table.columns)
    lines = [head, *((label, *(cell.text for cell in cells)) for label, cells in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    body = "\n".join(_line(line, widths) for line in lines)
    return f"Table {table.number}. {table.title}\n{body}"


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (text.ljust(width) for text, width in zip(line, widths, strict=True))
    return "  ".join((first, *rest)).rstrip()


def _print_list(lines: Sequence[str]) -> None:
    for line in lines:
        print(f"- {line}")


def _plain(tables: Sequence[PrintedTable]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(table) for table in tables]
