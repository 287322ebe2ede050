"""`reanalyze`: published tables from recorded rows, as published and corrected."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.errors import UserError

if TYPE_CHECKING:
    from framework.reanalysis.tables import Table


def reanalyze(args: argparse.Namespace) -> int:
    """Print the tables in both conventions and what the correction changes."""
    from framework.reanalysis.changes import changes, not_reproduced
    from framework.reanalysis.corrected import corrected_tables
    from framework.reanalysis.published import published_tables
    from framework.reanalysis.rows import read_rows
    from framework.reanalysis.tables import as_text

    rows = read_rows(Path(args.csv))
    if not rows:
        raise UserError(f"{args.csv} holds no rows")
    try:
        published, corrected = published_tables(rows), corrected_tables(rows)
        listed = changes(rows, published)
    except (KeyError, ZeroDivisionError, ValueError) as error:
        raise UserError(f"{args.csv} is not the whole of the recorded runs: {error}") from None
    missing = not_reproduced(published)
    cells = [cell for table in published for _, _, cell in table.cells]
    printed = sum(cell.reproduced is not None for cell in cells)
    if args.json:
        content = {
            "published": _plain(published),
            "corrected": _plain(corrected),
            "not_reproduced": missing,
            "changes": listed,
        }
        print(json.dumps(content, indent=2))
        return 0
    print("AS PUBLISHED\n")
    print("\n\n".join(as_text(table) for table in published))
    print(f"\n{printed - len(missing)} of {printed} printed numbers reproduced; not reproduced:")
    _print_list(missing)
    print("\nCORRECTED\n")
    print("\n\n".join(as_text(table) for table in corrected))
    print("\nWHAT CHANGES")
    _print_list(listed)
    return 0


def _print_list(lines: Sequence[str]) -> None:
    for line in lines:
        print(f"- {line}")


def _plain(tables: Sequence[Table]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(table) for table in tables]
