"""The work of a sweep: which jobs are left, which may begin, and what came of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from framework.config import Plan
from framework.engine.account import own_caches
from framework.engine.compose import compose_plan, composer, key_of, overrides_of, plan_of
from framework.engine.domains import one_domain
from framework.engine.job import Job, check_job, run_job
from framework.engine.listener import Aside, Listener, Step
from framework.engine.run import Outcome, begun_in
from framework.engine.workers import Pool
from framework.models.throttle import share_among

_log = logging.getLogger(__name__)

_EVERY_S: Final = 0.1
"""How often a worker tells of its rows."""


class SweepWork:
    """The jobs of a sweep that are left; one begins when those that it needs have ended.

    A baseline that jobs share is a job too: it runs once, before them. `outcomes` has how
    they ended. `at_once` is how many jobs one of Hydra's launchers may run elsewhere together; they
    share the limits of what is served. Called with a composed configuration, as these launchers do,
    it runs that job wherever it is. apart : whether no two jobs share a file. finished : the
    `rows_digest` of the jobs that are not left.
    """

    def __init__(
        self,
        directory: Path,
        left: Sequence[Job],
        listener: Listener,
        *,
        apart: bool = False,
        finished: Collection[str] = (),
    ) -> None:
        self.directory = directory
        self.jobs: Sequence[Job] = with_baselines(left, directory if apart else None, finished)
        self.outcomes: list[Outcome] = []
        self.at_once = 1
        self._listener = listener
        self._waiting = list(range(len(self.jobs)))
        self._finished = dict.fromkeys(finished, True)
        self._shown: dict[int, tuple[ExitStack, Step]] = {}
        self._over = False

    def __getstate__(self) -> dict[str, Any]:
        return {"directory": self.directory, "jobs": (), "at_once": self.at_once}

    def __call__(self, config: Any) -> Outcome:
        """Run the job of a configuration that one of Hydra's launchers composed."""
        from hydra.core.hydra_config import HydraConfig

        hydra = HydraConfig.get()
        given = overrides_of(hydra)
        for number, job in enumerate(self.jobs):
            if given == _of_task(job.plan.overrides):
                return self._run_unless_over(number)
        return self._run_elsewhere(lambda: plan_of(config, hydra))

    def run_given(self, overrides: Sequence[str]) -> Outcome:
        """Run the job of these overrides in a process of another machine, say."""
        with composer():
            return self._run_elsewhere(lambda: compose_plan(overrides))

    def _run_elsewhere(self, composed: Callable[[], Plan]) -> Outcome:
        share_among(self.at_once)
        with one_domain():
            # Its parts are built again: it was checked in another process.
            job = check_job(composed())
            begun = begun_in(job.plan, self.directory / job.name)
            return self._run(replace(job, begun=begun), Listener())

    @property
    def alone(self) -> str:
        """Why jobs may not run side by side; empty where they may."""
        for job in self.jobs:
            for group, part in job.plan.used.items():
                if getattr(part.plugin.cls, "in_process", False):
                    return f"{group}={job.plan.label(group)} is loaded in the process"
        return ""

    def ready(self) -> list[int]:
        """The numbers of the jobs that can begin now, in order.

        One that needs a job that came to no end is given up.
        """
        if self._over:
            return []
        ready = []
        for number in self._waiting[:]:
            needed = self._needs(number)
            if any(self._finished.get(other) is False for other in needed):
                self._waiting.remove(number)
                why = "its gate's baseline did not finish"
                path = self.directory / self.jobs[number].name
                _log.warning("stopped: %s: %s", path, why)
                self._end(number, Outcome(directory=path, summary=None, stopped=why))
            elif all(other in self._finished for other in needed):
                ready.append(number)
        return ready

    def begin(self) -> int | None:
        """The number of a job to be begun now; None where there is none, or none yet."""
        ready = self.ready()
        if not ready:
            return None
        self._waiting.remove(ready[0])
        return ready[0]

    def run(self, number: int, listener: Listener | None = None) -> Outcome:
        """Run one job in this process."""
        return self._run(self.jobs[number], listener or _Rows(self._listener))

    def run_telling(self, number: int, tell: Callable[[Any], None]) -> Outcome:
        """Run one job in a worker that tells of its rows."""
        return self.run(number, _Telling(tell))

    def heard(self, number: int, told: tuple[str, int | None, int]) -> None:
        """Show what a worker told of its rows."""
        kind, first, second = told
        if kind == "begun":
            stack = ExitStack()
            rows = self._listener.rows_of(self.jobs[number].plan, first, second)
            self._shown[number] = stack, stack.enter_context(rows)
        elif number in self._shown:
            self._shown[number][1](first or 0, second)

    def ended(self, number: int, outcome: Outcome) -> None:
        """A job has ended."""
        if number in self._waiting:
            self._waiting.remove(number)
        if number in self._shown:
            self._shown.pop(number)[0].close()
        self._over = self._over or outcome.ends_sweep
        self._end(number, outcome)
        if outcome.summary is not None:
            self._listener.run_ended(self.jobs[number].plan, outcome.directory, self.directory)

    @contextmanager
    def telling_aside(self) -> Iterator[None]:
        """Inside, no job waits for the upload of another; all are uploaded at the end."""
        before = self._listener
        with Aside(before) as self._listener:
            yield
        self._listener = before

    def stop(self) -> None:
        """Nothing more begins."""
        self._over = True
        for stack, _ in self._shown.values():
            stack.close()
        self._shown.clear()

    def _end(self, number: int, outcome: Outcome) -> None:
        rows = self.jobs[number].plan.rows_digest
        self._finished[rows] = self._finished.get(rows, True) and outcome.summary is not None
        if not self.jobs[number].only_baseline or outcome.summary is None:
            self.outcomes.append(outcome)

    def _needs(self, number: int) -> list[str]:
        job = self.jobs[number]
        own = job.plan.rows_digest
        return [p.rows_digest for p in job.baselines.plans if p.rows_digest != own]

    def _run_unless_over(self, number: int) -> Outcome:
        """Run one of several jobs that a launcher runs here in turn, whatever came of the last."""
        if self._over:
            path = self.directory / self.jobs[number].name
            return Outcome(directory=path, summary=None, stopped="not begun")
        try:
            outcome = self.run(number)
        except BaseException:
            self._over = True
            raise
        self._over = outcome.ends_sweep
        return outcome

    def _run(self, job: Job, listener: Listener) -> Outcome:
        return run_job(job, self.directory / job.name, self.directory, listener)


def in_turn(work: SweepWork) -> None:
    """Run the jobs of a sweep one after the other in this process."""
    while (number := work.begin()) is not None:
        work.ended(number, work.run(number))


def in_processes(work: SweepWork, size: int) -> None:
    """Run the jobs of a sweep side by side, in so many processes.

    They share the limits of what is served: there are no more of them than calls may be under way.
    """
    parts = [part for job in work.jobs for part in job.plan.used.values()]
    limits = [n for part in parts if (n := getattr(part.settings, "concurrency", None))]
    size = min([size, *limits])
    import_module("scipy.special")  # every summary needs it: once, not in each worker

    def run(number: int, tell: Callable[[Any], None]) -> Outcome:
        share_among(size)
        return work.run_telling(number, tell)

    try:
        # No thread before the forks: it could hold a lock that a worker then waits for.
        with Pool(size, run, work.heard) as pool, work.telling_aside():
            pool.run(work.begin, work.ended)
    finally:
        work.stop()


def with_baselines(
    left: Sequence[Job], apart: Path | None = None, finished: Collection[str] = ()
) -> list[Job]:
    """The jobs, those first that others are judged against; baselines that are no job as jobs.

    apart : the directory of jobs that share no file, of which such a baseline is one more. Call
    inside `composer` then. finished : the `rows_digest` of baselines that are there already.
    """
    against = {plan.rows_digest: plan for job in left for plan in job.baselines.plans}
    proper = {job.plan.rows_digest for job in left}.union(finished)
    added = [
        Job(plan=plan, only_baseline=True) for rows, plan in against.items() if rows not in proper
    ]
    if apart is not None:
        added = [replace(job, plan=_alone(job.plan, apart / job.name)) for job in added]

    def order(job: Job) -> tuple[bool, bool]:
        return job.plan.rows_digest not in against, bool(job.baselines.plans)

    return added + sorted(left, key=order)


def _alone(plan: Plan, job: Path) -> Plan:
    return compose_plan([*plan.overrides, *own_caches(plan, job)])


def _of_task(overrides: Sequence[str]) -> list[str]:
    return [override for override in overrides if not key_of(override).startswith("hydra.")]


class _Rows(Listener):
    """Shows rows; of the end of a job the sweep tells."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def rows_of(self, plan: Plan, expected: int | None, done: int) -> Any:
        return self._listener.rows_of(plan, expected, done)


class _Telling(Listener):
    """Tells the process that shows it, now and then, of the rows of a worker."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self._tell = tell

    @contextmanager
    def rows_of(self, plan: Plan, expected: int | None, done: int) -> Iterator[Step]:
        self._tell(("begun", expected, done))
        rows = failed = 0
        last = time.monotonic()

        def step(new: int, new_failed: int) -> None:
            nonlocal rows, failed, last
            rows, failed = rows + new, failed + new_failed
            if time.monotonic() - last >= _EVERY_S:
                self._tell(("rows", rows, failed))
                rows = failed = 0
                last = time.monotonic()

        yield step
        self._tell(("rows", rows, failed))
