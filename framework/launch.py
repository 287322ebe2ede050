"""`python run.py ...`: one command for a run, a sweep, and going on with either.

The whole grid is composed and validated before any job runs, so a mistake ends in one line and
exit status 2 with nothing written. Exit status: 0 fine; 1 our error, or too many failed cases;
2 the user's mistake; 3 a gate failed (after all jobs ended).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from framework.errors import UserError

MISTAKE: Final = 2
INTERRUPTED: Final = 130
_SHOWN_BY_HYDRA: Final = ("help", "hydra_help", "cfg", "info", "shell_completion")
_NOT_TAKEN: Final = ("config_path", "config_name", "experimental_rerun")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    from framework.cli.log import log_to_stderr

    log_to_stderr()
    try:
        return _main(given)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # what Hydra shows went to a reader that left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _main(argv: list[str]) -> int:
    args = _parse(argv)
    overrides: list[str] = list(args.overrides)
    if args.config_dir is not None:
        place = Path(args.config_dir).resolve()
        if not place.is_dir():
            raise UserError(f"--config-dir: {args.config_dir} is not a directory")
        overrides.append(f"hydra.searchpath=['file://{place}']")
    if any(getattr(args, name) for name in _SHOWN_BY_HYDRA):
        return _show_by_hydra(argv, overrides if args.cfg or args.info else [])
    resume = _value_of("resume", overrides)
    if resume not in (None, "", "null"):
        from framework.cli.ending import Ending, show
        from framework.engine.resume import resume as go_on

        if _value_of("dry_run", overrides) not in (None, "false"):
            raise UserError("dry_run is of a run that has not begun; leave out resume")
        left = [o for o in overrides if not o.startswith("resume=")]
        return show(go_on(Path(str(resume)), left, Ending()))
    return _start(overrides, bool(args.multirun))


def _parse(argv: list[str]) -> argparse.Namespace:
    """Hydra's own options. Raises UserError for one that is unknown or not taken here."""
    from hydra._internal.utils import get_args_parser

    parser = get_args_parser()
    parser.exit_on_error = False
    try:
        args, unknown = parser.parse_known_intermixed_args(argv)
    except argparse.ArgumentError as error:
        raise UserError(str(error)) from None
    if unknown:
        raise UserError(f"{unknown[0]}: no such option; see `python run.py --help`")
    for name in _NOT_TAKEN:
        if getattr(args, name):
            raise UserError(
                f"--{name.replace('_', '-')} is not taken; add groups of your own by --config-dir "
                "and compose them by overrides"
            )
    return args


def _start(overrides: list[str], multirun: bool) -> int:
    from framework.engine.compose import (
        compose_raw,
        composer,
        directory_of,
        grid,
        is_sweep,
        plan_of,
        without_sweeps,
    )
    from framework.engine.run import one_domain

    with composer(), one_domain():
        config = compose_raw(without_sweeps(overrides) if multirun else overrides)
        if config.get("dry_run") is True:
            from framework.cli.estimate import show as show_estimate

            return show_estimate([*overrides, *(["-m"] if multirun else [])])
        from framework.cli.ending import Ending, show

        if not (multirun or is_sweep(config)):
            from framework.engine.job import run_single

            return show(run_single(plan_of(config), directory_of(config, "run"), Ending()))
        from framework.engine.sweep import start_sweep

        jobs, directory = grid(overrides, config), directory_of(config, "sweep")
        return show(start_sweep(jobs, overrides, directory, Ending()))


def _show_by_hydra(argv: list[str], overrides: Sequence[str]) -> int:
    """Leave `--help`, `--cfg`, `--info` and the like to Hydra itself, once it can compose."""
    import hydra

    from framework.engine.compose import CONF, compose_raw, composer, without_sweeps

    if overrides:
        with composer():
            compose_raw(without_sweeps(overrides))
    sys.argv = ["run.py", *argv]
    show = hydra.main(version_base=None, config_path=str(CONF), config_name="config")
    show(lambda config: None)()
    return 0


def _value_of(key: str, overrides: Sequence[str]) -> str | None:
    for override in reversed(overrides):
        name, equals, value = override.partition("=")
        if name == key and equals:
            return value.strip("'\"")
    return None
