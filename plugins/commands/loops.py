"""`fork`: an improvement loop resumed from one of its events."""

from __future__ import annotations

import argparse
from pathlib import Path

from framework.contracts.command import Command
from framework.registry import register


@register("command", "fork")
class Fork(Command):
    """Start a new run from a loop's first events and continue it with other settings."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="directory of a run of protocol=improve")
        parser.add_argument(
            "overrides", nargs="*", metavar="KEY=VALUE", help="settings that the rest is run with"
        )
        parser.add_argument(
            "--at", type=int, required=True, metavar="SEQ", help="number of the last event to keep"
        )
        parser.add_argument(
            "--out", metavar="DIR", help="default: next to the run, with SEQ in its name"
        )

    def run(self, args: argparse.Namespace) -> int:
        return fork(args)


def fork(args: argparse.Namespace) -> int:
    """Begin a run with another's events up to one of them, and resume it."""
    from framework.cli.ending import Ending, show_run
    from framework.engine.compose import composer
    from framework.engine.domains import one_domain
    from framework.engine.job import run_job
    from plugins.commands._loops import fork as begin

    path = Path(args.run)
    directory = Path(args.out) if args.out else path.with_name(f"{path.name}-at-{args.at}")
    with composer(), one_domain():
        job = begin(path, args.at, args.overrides, directory)
        return show_run(run_job(job, directory, None, Ending()))
