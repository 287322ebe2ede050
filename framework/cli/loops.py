"""Commands on improvement loops: fork, gates."""

from __future__ import annotations

import argparse
from pathlib import Path


def fork(args: argparse.Namespace) -> int:
    """Begin a run with another's events up to one of them, and go on with it."""
    from framework.engine.compose import composer
    from framework.engine.job import check_job, run_job, show_run
    from framework.engine.loops import fork as begin
    from framework.engine.run import one_domain

    path = Path(args.run)
    directory = Path(args.out) if args.out else path.with_name(f"{path.name}-at-{args.at}")
    with composer(), one_domain():
        plan = begin(path, args.at, args.overrides, directory)
        return show_run(run_job(plan, directory, check_job(plan), sweep=None))


def gates(args: argparse.Namespace) -> int:
    """Simulate loops under each gate; print the table, or put it between a file's table markers."""
    from framework.errors import UserError
    from framework.reporting.figures.style import save
    from framework.reporting.markdown import put_between_markers
    from framework.testing.gate_populations import MIXTURE, read_effects
    from framework.testing.gate_tables import draw, markdown
    from framework.testing.gates import simulate

    if args.loops < 1:
        raise UserError(f"--loops: {args.loops} given, at least 1 expected")
    populations = [MIXTURE, *(read_effects(Path(path)) for path in args.effects)]
    found = [f for each in populations for f in simulate(args.loops, args.seed, each)]
    text = f"{markdown(found)}\n\n{args.loops:,} loops a gate, seed {args.seed}."
    if args.into is None:
        print(text)
    else:
        put_between_markers(Path(args.into), text)
    if args.figure:
        directory = Path(args.figure)
        directory.mkdir(parents=True, exist_ok=True)
        save(draw(found), directory)
    return 0
