"""`report`: a run or sweep as one page that opens from disk; or one of the papers' own."""

from __future__ import annotations

import argparse
from pathlib import Path

from framework.errors import UserError


def report(args: argparse.Namespace) -> int:
    """Write a report into the run's directory, or a recipe's page, and say where."""
    if args.list:
        return _list()
    if not args.sources and args.recipe is None:
        raise UserError("report needs a run or sweep; --list shows the recipes")
    sources = [Path(source) for source in args.sources]
    if args.recipe is not None:
        if args.redact:
            raise UserError("--redact is for a run or sweep; a recipe shows recorded rows")
        from framework.reporting.recipe import write_recipe

        target = Path(args.to) if args.to else None
        page, text = write_recipe(args.recipe, sources, target)
        print(text)
        print(page)
        return 0
    if args.to is not None:
        raise UserError("--to is for --recipe; the page of a run or sweep is in its directory")
    from framework.reporting.page import write_report

    if len(sources) > 1:
        raise UserError("report takes one run or sweep; `compare` sets several side by side")
    print(write_report(sources[0], redact=args.redact))
    return 0


def _list() -> int:
    from framework.registry import plugins
    from framework.reporting.terminal import wrapped

    for plugin in plugins("recipe"):
        print(wrapped(f"{plugin.name:24} {plugin.summary} ({plugin.cls.source})", rest=" " * 25))
        print(wrapped(f"needs {plugin.cls.needs or 'nothing'}", " " * 25, " " * 27))
    return 0
