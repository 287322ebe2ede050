"""`sync`: uploading what was not uploaded when it ran: a run, a sweep or a job of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from framework.contracts.command import Command
from framework.errors import TrackingError, UserError
from framework.registry import register
from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.contracts import Tracker
    from framework.store.state import State

NOWHERE: Final = "none"
"""The tracker that uploads nothing."""


@register("command", "sync")
class Sync(Command):
    """Upload a run or sweep whose upload failed before."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN|SWEEP", help="directory of a run or sweep")

    def run(self, args: argparse.Namespace) -> int:
        try:
            print(sync(Path(args.run)))
        except TrackingError as error:
            print(f"tracking: {error}", file=sys.stderr)
            return 1
        return 0


def sync(path: Path) -> str:
    """Upload a finished run or every finished run of a sweep, by the tracker they were run with.

    Returns a line that says what went where; again changes nothing there. Raises UserError for a
    directory that is neither, holds nothing finished, or was run with `tracking=none`;
    TrackingError when the server can't be reached.
    """
    from framework.store.directory import SWEEP_PLAN
    from framework.store.state import load_finished

    if (path / SWEEP_PLAN).is_file():
        return _sync_sweep(path)
    sweep = path.parent if (path.parent / SWEEP_PLAN).is_file() else None
    return _tracker(load_finished(path), path).upload_run(path, sweep)


def _sync_sweep(sweep: Path) -> str:
    from framework.engine.sweep import all_directories, finished_among
    from framework.store.directory import SWEEP

    runs = all_directories(sweep)
    finished = finished_among(runs)
    if not finished:
        raise UserError(f"{sweep} has no finished run yet; resume it with resume={sweep}")
    for state in finished:
        _tracker(state, sweep).upload_run(state.path, sweep)
    count = f"{len(finished)} of {counted(len(runs), 'run')}"
    if not (sweep / SWEEP).is_file():
        return f"{count}; the sweep itself is not finished: resume it with resume={sweep}"
    return f"{count} and their sweep; {_tracker(finished[0], sweep).upload_sweep(sweep)}"


def _tracker(run: State, asked: Path) -> Tracker[Any]:
    """The tracker of a run's configuration; `asked` is the directory that the user named."""
    from framework.config import stored_plan

    part = stored_plan(run).parts["tracking"]
    if part.plugin.name == NOWHERE:
        raise UserError(
            f"{asked} was run with tracking=none; resume={asked} tracking=mlflow uploads it"
        )
    tracker: Tracker[Any] = part.create()
    return tracker
