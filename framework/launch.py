"""`python run.py ...`: one command for a run, a sweep, and going on with either.

The whole grid is composed and validated before any job runs, so a mistake ends in one line and
exit status 2 with nothing written. Exit status: 0 fine; 1 our error, or too many failed cases;
2 the user's mistake; 3 a gate failed (after all jobs ended).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from framework.errors import UserError

MISTAKE: Final = 2
_HYDRA_ONLY: Final = ("help", "hydra_help", "cfg", "info", "version", "shell_completion")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    try:
        return _main(given)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        print("interrupted; go on with resume=DIRECTORY", file=sys.stderr)
        return 130


def _main(argv: list[str]) -> int:
    from hydra._internal.utils import get_args_parser

    args = get_args_parser().parse_args(argv)
    if any(getattr(args, name, None) for name in _HYDRA_ONLY):
        return _show_by_hydra(argv)
    overrides: list[str] = list(args.overrides)
    resume = _value_of("resume", overrides)
    if resume not in (None, "null"):
        from framework.engine.resume import resume as go_on

        return go_on(Path(str(resume)), [o for o in overrides if _key(o) != "resume"])
    return _start(overrides, args)


def _start(overrides: list[str], args: Any) -> int:
    from framework.compose import compose_raw, composer, grid, is_sweep, plan_of, without_sweeps

    name = args.config_name or "config"
    with composer():
        fixed = without_sweeps(overrides) if args.multirun else overrides
        config = compose_raw(fixed, name)
        if not (args.multirun or is_sweep(config)):
            from framework.engine.job import run_single

            return run_single(plan_of(config), _value_of("hydra.run.dir", overrides))
        from framework.engine.sweep import start_sweep

        jobs = grid(overrides, config)
        return start_sweep(jobs, overrides, name, _value_of("hydra.sweep.dir", overrides))


def _show_by_hydra(argv: list[str]) -> int:
    """Leave `--help`, `--cfg`, `--info` and the like to Hydra itself."""
    import hydra

    from framework.compose import CONF

    sys.argv = ["run.py", *argv]
    show = hydra.main(version_base=None, config_path=str(CONF), config_name="config")
    show(lambda config: None)()
    return 0


def _key(override: str) -> str:
    return override.lstrip("+~").split("=", 1)[0]


def _value_of(key: str, overrides: Sequence[str]) -> str | None:
    for override in reversed(overrides):
        if _key(override) == key and "=" in override:
            return override.split("=", 1)[1].strip("'\"")
    return None
