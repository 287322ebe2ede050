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
    from framework.reanalysis.changes import not_reproduced
    from framework.reanalysis.tables import as_text

    found = {"longhorizon": _longhorizon, "regimes": _regimes}[args.paper](Path(args.path))
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
    print("\n\n".join(as_text(table) for table in found.published))
    print(f"\n{printed - len(missing)} of {printed} printed numbers reproduced; not reproduced:")
    _print_list(missing or ["none"])
    print("\nCORRECTED\n")
    print("\n\n".join(as_text(table) for table in found.corrected))
    print("\nWHAT CHANGES")
    _print_list(found.changes)
    return 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Reanalysis:
    published: Sequence[Table]
    corrected: Sequence[Table]
    changes: Sequence[str]


def _longhorizon(path: Path) -> _Reanalysis:
    from framework.reanalysis.changes import changes
    from framework.reanalysis.corrected import corrected_tables
    from framework.reanalysis.published import published_tables
    from framework.reanalysis.rows import read_rows

    rows = read_rows(path)
    if not rows:
        raise UserError(f"{path} holds no rows")
    try:
        published, corrected = published_tables(rows), corrected_tables(rows)
        listed = changes(rows, published)
    except (KeyError, ZeroDivisionError, ValueError) as error:
        raise UserError(f"{path} is not the whole of the recorded runs: {error}") from None
    return _Reanalysis(published=published, corrected=corrected, changes=listed)


def _regimes(path: Path) -> _Reanalysis:
    from framework.reanalysis.loops import read_loops
    from framework.reanalysis.regimes import changes, corrected_tables, published_tables

    loops = read_loops(path)
    return _Reanalysis(
        published=published_tables(loops),
        corrected=corrected_tables(loops),
        changes=changes(loops),
    )


def _print_list(lines: Sequence[str]) -> None:
    for line in lines:
        print(f"- {line}")


def _plain(tables: Sequence[Table]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(table) for table in tables]
