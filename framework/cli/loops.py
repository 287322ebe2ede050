"""`fork`: an improvement loop resumed from one of its events."""

from __future__ import annotations

import argparse
from pathlib import Path


def fork(args: argparse.Namespace) -> int:
    """Begin a run with another's events up to one of them, and resume it."""
    from framework.cli.ending import Ending, show_run
    from framework.engine.compose import composer
    from framework.engine.domains import one_domain
    from framework.engine.job import run_job
    from framework.engine.loops import fork as begin

    path = Path(args.run)
    directory = Path(args.out) if args.out else path.with_name(f"{path.name}-at-{args.at}")
    with composer(), one_domain():
        job = begin(path, args.at, args.overrides, directory)
        return show_run(run_job(job, directory, None, Ending()))
