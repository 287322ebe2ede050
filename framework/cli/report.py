"""`report`: a run or sweep as one page that opens from disk."""

from __future__ import annotations

import argparse
from pathlib import Path


def report(args: argparse.Namespace) -> int:
    """Write report.html, report.md and figures/ into the directory and say where."""
    from framework.reporting.report.write import write_report

    print(write_report(Path(args.run)))
    return 0
