"""`coverage`: the simulated coverage and size of what reports print, as a table."""

from __future__ import annotations

import argparse
from pathlib import Path

from framework.errors import UserError


def coverage(args: argparse.Namespace) -> int:
    """Simulate, and print the table or put it between a file's table markers."""
    from framework.reporting.markdown import put_between_markers
    from framework.testing.coverage import markdown, simulate

    if args.samples < 1:
        raise UserError(f"--samples: {args.samples} given, at least 1 expected")
    table = markdown(list(simulate(args.samples)))
    text = f"{table}\n\n{args.samples:,} samples a cell."
    if args.into is None:
        print(text)
    else:
        put_between_markers(Path(args.into), text)
    return 0
