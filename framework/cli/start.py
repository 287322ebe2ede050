"""What a run does once Hydra has composed, and the exit status that follows.

0 fine; 1 our error, or too many failed cases; 2 the user's mistake; 3 a gate failed (after all jobs
ended); 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from framework.errors import UserError, of_a_place

FAILED: Final = 1
MISTAKE: Final = 2
INTERRUPTED: Final = 130


def status_of_command(command: Callable[[], object], argv: Sequence[str]) -> int:
    """Run a function that `hydra.main` decorated on a command line, and return the exit status.

    Whatever was wrong is one line on stderr, but for an error of ours, which is a traceback.
    """
    from framework.cli.log import log_to_stderr
    from framework.engine.domains import one_domain
    from framework.engine.secrets import close_environment

    log_to_stderr()
    close_environment()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises what it meets, and ends no process itself
    try:
        switches, overrides = _split(argv)
        with one_domain(), _stopped_in_order():
            return _status(command, switches, overrides)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # what Hydra shows went to a reader that left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def start(config: Any) -> int:
    """Run what Hydra composed, or resume it, and return the exit status."""
    from hydra.core.hydra_config import HydraConfig

    from framework.cli.ending import Ending, show
    from framework.engine.compose import directory_of, overrides_of, plan_of
    from framework.engine.job import run_single

    hydra = HydraConfig.get()
    other = _other_than_new(config, hydra, overrides_of(hydra))
    if other is not None:
        return other
    return show(run_single(plan_of(config, hydra), directory_of(hydra, "run"), Ending()))


def start_sweep(
    config: Any, overrides: list[str], launch: Callable[[Any], None], *, apart: bool
) -> int:
    """Run the sweep that Hydra composed, or resume it, and return the exit status.

    apart : whether its jobs may run on several machines.
    """
    from framework.cli.ending import Ending, show
    from framework.engine.compose import directory_of, grid
    from framework.engine.sweep import start_sweep as begin

    other = _other_than_new(config, config.hydra, overrides, launch, apart=apart)
    if other is not None:
        return other
    jobs, directory = grid(overrides, config), directory_of(config.hydra, "sweep")
    return show(begin(jobs, overrides, directory, Ending(), launch, apart=apart))


def _other_than_new(
    config: Any,
    hydra: Any,
    overrides: Sequence[str],
    launch: Callable[[Any], None] | None = None,
    *,
    apart: bool = False,
) -> int | None:
    """The exit status of resuming a run or sweep, or of a dry run; None for a new one."""
    from framework.cli.ending import Ending, show
    from framework.engine.compose import found_by, key_of
    from framework.engine.resume import resume

    begun = config.get("resume")
    dry = config.get("dry_run") is True
    if begun not in (None, ""):
        if dry:
            raise UserError("dry_run is for a run that has not begun; leave out resume")
        given = [override for override in overrides if key_of(override) != "resume"]
        return show(resume(Path(str(begun)), given, Ending(), launch, apart=apart))
    if dry:
        from framework.cli.estimate import show as show_estimate

        return show_estimate([*found_by(hydra), *overrides, *(["-m"] if launch else [])])
    return None


class _Left(SystemExit):
    """Carries what was raised through Hydra, which would print more than one line about it."""


def as_exit(run: Callable[[], int]) -> None:
    """Leave by the status that `run` returns, or with what it raises as the cause."""
    try:
        status = run()
    except SystemExit as left:
        ended = RuntimeError(f"code of a plugin ended the process: sys.exit({left.code!r})")
        raise _Left(FAILED) from ended.with_traceback(left.__traceback__)
    except Exception as error:
        raise _Left(FAILED) from error
    raise SystemExit(status)


def _status(command: Callable[[], object], switches: list[str], overrides: list[str]) -> int:
    while True:
        sys.argv = ["run.py", *switches, *overrides]
        try:
            command()
            return 0
        except SystemExit as left:
            if not isinstance(left, _Left) or left.__cause__ is None:
                if isinstance(left.code, str):
                    print(left.code, file=sys.stderr)
                    return FAILED
                return left.code or 0
            error: BaseException = left.__cause__
        except BrokenPipeError:
            raise
        except Exception as raised:
            error = raised
        if (mistake := of_a_place(error)) is not None:
            raise mistake from None
        added = _corrected(error, overrides)
        if added is None:
            _print_error(error)
            return FAILED
        overrides = added


def _print_error(error: BaseException) -> None:
    """Print the traceback of an error of ours: of one in a worker the worker's alone."""
    from framework.engine.workers import JobFailed

    if isinstance(error, JobFailed):
        print(str(error).rstrip("\n"), file=sys.stderr)
    else:
        traceback.print_exception(error)


def _corrected(error: BaseException, overrides: Sequence[str]) -> list[str] | None:
    """Overrides with which Hydra gets further, so that a check of ours can say what is wrong.

    None for an error of ours. Raises UserError for a mistake.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    from framework.engine.compose import check_overrides
    from framework.engine.mistakes import explained, with_unknown_key_added

    if isinstance(error, UserError):
        raise error from None
    added = with_unknown_key_added(error, overrides)
    if added is None:
        check_overrides(overrides)
        if isinstance(error, (HydraException, OmegaConfBaseException, YAMLError)):
            raise UserError(explained(error)) from None
    return added


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Hydra's switches, and the overrides, which may stand between them.

    Read here with the switches that Hydra documents, as Hydra itself would print its whole usage
    for a mistake. Raises UserError for one that is unknown, or lacks its value.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    one = parser.add_mutually_exclusive_group()
    for short, long in (("-r", "--run"), ("-m", "--multirun"), ("-sc", "--shell-completion")):
        one.add_argument(long, short, action="store_true")
    one.add_argument("--cfg", "-c", choices=("job", "hydra", "all"))
    one.add_argument("--info", "-i", nargs="?", const="all")
    for name in ("--help", "-h", "--hydra-help", "--version", "--resolve"):
        parser.add_argument(name, action="store_true")
    for long, short in (
        ("--package", "-p"), ("--config-path", "-cp"), ("--config-name", "-cn"),
        ("--config-dir", "-cd"),
    ):  # fmt: skip
        parser.add_argument(long, short)
    try:
        args, unknown = parser.parse_known_intermixed_args(list(argv))
    except argparse.ArgumentError as error:
        raise UserError(str(error)) from None
    if unknown:
        raise UserError(f"{unknown[0]}: no such option; see `decisionbench run --help`")
    overrides: list[str] = args.overrides
    folders = [folder for folder in (args.config_dir, args.config_path) if folder is not None]
    if folders or "hydra.searchpath" in " ".join(overrides):
        from framework.engine.compose import check_options

        check_options(*folders, overrides=overrides)
    return [word for word in argv if word not in overrides], overrides


@contextmanager
def _stopped_in_order() -> Iterator[None]:
    """Inside, SIGTERM stops what runs as Ctrl-C does, and leaves nothing running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
