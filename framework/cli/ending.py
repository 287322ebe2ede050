"""How runs and sweeps end for people: the page, the upload, what is printed, the exit status."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

from framework.cli.progress import Progress
from framework.config import Plan
from framework.engine.run import Outcome
from framework.engine.sweep import SweepOutcome
from framework.errors import TrackingError, UserError
from framework.store.answers import answer_records
from framework.store.directory import HTML
from framework.store.state import FinishedRun, read_report
from framework.text.printable import brief

OK, FAILED, GATE_FAILED = 0, 1, 3
_DRAWING: Final = "matplotlib.backends.backend_svg"
_ORDER: Final = (OK, GATE_FAILED, FAILED)

_log = logging.getLogger(__name__)


class Ending(Progress):
    """Shows progress, and uploads each run as it ends.

    A run that is no part of a sweep ends with a page, as a sweep does, where its protocol reports.
    """

    def run_ended(self, plan: Plan, directory: Path, sweep: Path | None) -> None:
        if sweep is not None and plan.top.report:
            get_ready_to_draw()
        protocol = plan.parts["protocol"].plugin.name
        if sweep is None and plan.top.report and read_report(directory, protocol) is not None:
            write_page(directory)
        tracker = plan.parts["tracking"].create()
        try:
            tracker.upload_run(directory, sweep)
        except TrackingError as error:
            _log.warning(
                "tracking: %s; the run is on disk, `decisionbench sync %s` uploads it later",
                error, directory,
            )  # fmt: skip


def show(outcome: Outcome | SweepOutcome) -> int:
    """Print what came of a run or sweep, its directory last; return the exit status."""
    return show_run(outcome) if isinstance(outcome, Outcome) else show_sweep(outcome)


def show_run(outcome: Outcome) -> int:
    """Print a run, with `run: DIRECTORY` as the last line on stdout; return its exit status."""
    from framework.reporting.page import print_reported, print_run

    def print_all() -> None:
        if outcome.summary is not None:
            print_run(outcome.summary)
            print_reported(outcome.directory)
            print_next(outcome.directory, outcome.directory)
        print(f"run: {outcome.directory}")

    to_reader(print_all)
    tell_few_cases([outcome])
    tell_gate(outcome)
    return status_of(outcome)


def show_sweep(outcome: SweepOutcome) -> int:
    """Write a sweep's page, upload it and print it, `sweep: DIRECTORY` last; return the status.

    The one ending of every sweep, run or rescored.
    """
    from framework.analysis.evidence import of_sweep
    from framework.analysis.verdict import leading_job
    from framework.reporting.page import print_reported, print_sweep

    path, plan = outcome.directory, outcome.plan
    if outcome.summary is not None:
        if plan.top.report:
            write_page(path, outcome.finished)
        try:
            plan.parts["tracking"].create().upload_sweep(path)
        except TrackingError as error:
            _log.warning("tracking: %s; `decisionbench sync %s`", error, path)

    def print_all() -> None:
        if outcome.summary is not None:
            print_sweep(outcome.summary, paged=(path / HTML).is_file())
            print_reported(path)
            job = leading_job(of_sweep(outcome.summary).groups)
            first = next((run.path for run in outcome.finished), path)
            print_next(path, first if job is None else path / job.path)
        print(f"sweep: {path}")

    to_reader(print_all)
    tell_few_cases(outcome.runs)
    for run in outcome.runs:
        if run.summary is None or run.summary["gate"]["passed"] is not None:
            tell_gate(run)
    return max((status_of(run) for run in outcome.runs), key=_ORDER.index, default=OK)


def print_next(path: Path, run: Path) -> None:
    """Print where the page is, and what to look at next; `run` is one that has cases."""
    shown = [("list axis", "what each column means")]
    if path != run:
        shown.insert(0, (f"table {path}", "every axis, in Markdown"))
    with suppress(UserError, StopIteration):
        case = next(answer_records(run))["key"][0]
        if not re.fullmatch(r"[\w.:@-]+", case):  # a shell would obey what another wrote
            case = "0"
        shown.insert(0, (f"show {run} case={case}", "what memory kept of a case, and its answer"))
    print()
    if (path / HTML).is_file():
        print(f"page: {path / HTML}")
    else:
        shown.insert(0, (f"report {path}", "the page, with figures"))
    for command, why in shown:
        print(f"next: decisionbench {command}  # {why}")


def tell_few_cases(runs: Sequence[Outcome]) -> None:
    """Tell once on stderr that there are fewer cases than the command asked for."""
    for run in runs:
        found = run.summary["run"]["n_cases"] if run.summary is not None else 0
        if run.asked is not None and 0 < found < run.asked:
            _log.info("n_cases=%d: there are %d cases, all were measured", run.asked, found)
            return


def tell_gate(outcome: Outcome) -> None:
    """Tell on stderr what a run's gate says: the exit status alone does not say why."""
    from framework.reporting.sections.conditions import gate_verdict

    if outcome.summary is None:
        return
    gate, said = outcome.summary["gate"], gate_verdict(outcome.summary)
    if said and (gate["findings"] or gate["passed"] is not True):  # an open gate says nothing
        _log.info("%s", said)


def status_of(outcome: Outcome) -> int:
    """The exit status of one job."""
    if outcome.summary is None:
        return FAILED
    return GATE_FAILED if outcome.summary["gate"]["passed"] is False else OK


def get_ready_to_draw() -> None:
    """Import what figures need in a thread, once, while other runs of a sweep are at work."""
    if not _importing:
        _importing.append(threading.Thread(target=import_module, args=[_DRAWING], daemon=True))
        _importing[0].start()


_importing: list[threading.Thread] = []
"""The thread, if any: modules that import each other are seen half made by another that does."""


def write_page(path: Path, runs: Sequence[FinishedRun] = ()) -> None:
    """Write the report of a run or sweep; whatever goes wrong is told, and the results stand."""
    for thread in _importing:
        thread.join(60)
    try:
        from framework.reporting.page import write_report

        write_report(path, runs)
    except Exception as error:  # a page or picture must not take the results with it
        told = brief(f"{type(error).__name__}: {error}")
        _log.warning("report: %s; `decisionbench report %s` tries again", told, path)


def to_reader(show_all: Callable[[], None]) -> None:
    """Print to stdout; that its reader has left, as `head` does, is no error of anyone's."""
    try:
        show_all()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
