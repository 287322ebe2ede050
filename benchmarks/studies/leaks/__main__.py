"""What of the gold do the questions and the order of a domain's events give away by themselves?

    python -m benchmarks.studies.leaks [--data DIR] [--only NAME,...] [--into FILE#NAME]

No arm and no model takes part. By domain a table says what was looked at, what it found, and what
chance or a constant answer gives; with several domains each table stands under its domain's name.
Where the gold of published cases lies is told by `places`. A domain whose files are not in DIR is
left out, and named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.studies.leaks.subjects import SUBJECTS, table
from benchmarks.studies.order_of_arms import ROOT
from framework.reporting.markdown import print_or_put


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=ROOT.parent / "shared" / "data", type=Path)
    parser.add_argument("--only", help=f"domains, separated by commas: {', '.join(SUBJECTS)}")
    parser.add_argument("--into", help="a file with markers for the tables")
    asked = parser.parse_args(arguments)
    names = asked.only.split(",") if asked.only else list(SUBJECTS)
    if unknown := [name for name in names if name not in SUBJECTS]:
        parser.error(f"--only {','.join(unknown)}: there are {', '.join(SUBJECTS)}")
    missing = [name for name in names if not _is_there(name, asked.data)]
    found = [name for name in names if name not in missing]
    headed = len(names) > 1
    parts = [f"**{name}**\n\n{table(name, asked.data)}" if headed else table(name, asked.data)
             for name in found]  # fmt: skip
    if missing:
        parts.append(f"Not here, and left out: {', '.join(missing)}.")
    print_or_put("\n\n".join(parts), asked.into)
    return 0


def _is_there(name: str, data: Path) -> bool:
    return all((data / file).exists() for file in SUBJECTS[name].files.values())


if __name__ == "__main__":
    sys.exit(main())
