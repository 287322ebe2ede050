"""What Hydra loads of DecisionBench: `hydra/sweeper=grid`, `hydra/launcher=processes`, a callback.

Hydra imports this file at every start, so all that is heavy stands inside the functions.
"""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from omegaconf import OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

if TYPE_CHECKING:
    from hydra.types import HydraContext, TaskFunction
    from omegaconf import DictConfig

_HERE: Final = ("basic", "processes", "joblib")
"""Launchers whose jobs share this machine."""

_log = logging.getLogger("framework.sweep")


class Grid(Sweeper):
    """Composes and checks every job before one runs, then leaves them to the configured launcher.

    params : overrides with several values, as an experiment sets them. It ends the process with the
    sweep's exit status, which Hydra would lose.
    """

    def __init__(self, params: Any) -> None:
        del params  # read where they are needed, from the configuration

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self._context, self._config = hydra_context, config

    def sweep(self, arguments: list[str]) -> Any:
        """Run the sweep, or resume it. Raises UserError for a mistake, with nothing written."""
        begun = self._config.get("resume")
        self._check_launcher()
        apart = self._launcher not in _HERE
        if begun is not None:
            from plugins.sharding import run as shards
            from plugins.tuning.sweep import is_unfinished, resume

            if is_unfinished(path := Path(str(begun))):
                self._check_here()
                raise SystemExit(resume(path, arguments, self._launch))
            if shards.is_work(path):
                raise SystemExit(shards.resume(path, arguments, self._launch, apart=apart))
        elif self._config.get("shards") is not None and self._config.get("dry_run") is not True:
            from plugins.sharding import run as shards

            raise SystemExit(shards.start(self._config, arguments, self._launch, apart=apart))
        from framework.cli.start import start_sweep

        raise SystemExit(start_sweep(self._config, arguments, self._launch, apart=apart))

    @property
    def _launcher(self) -> str:
        return str(self._config.hydra.runtime.choices["hydra/launcher"])

    def _check_launcher(self) -> None:
        """Raise UserError for a launcher that could run nothing, before anything is written."""
        if self._config.get("dry_run") is True:
            return
        from hydra.core.plugins import Plugins

        launcher: Any = Plugins.instance().instantiate_launcher(
            hydra_context=self._context, task_function=cast("Any", None), config=self._config
        )
        if isinstance(launcher, _Launcher):
            launcher.check()

    def _check_here(self) -> None:
        """Raise UserError for a launcher of several machines, where jobs share files."""
        if self._launcher not in _HERE:
            from framework.errors import UserError

            raise UserError(
                f"hydra/launcher={self._launcher}: a tuned sweep shares one account and cache; "
                f"allowed: {', '.join(_HERE)}"
            )

    def _launch(self, work: Any) -> None:
        """Have the jobs of a sweep run (`framework.engine.work.SweepWork`)."""
        chosen = self._launcher
        if work.alone and chosen in _HERE:
            from framework.engine.work import in_turn

            if len(work.jobs) > 1:
                _log.warning("one job after the other: %s", work.alone)
            in_turn(work)
            return
        from hydra.core.plugins import Plugins
        from hydra.errors import HydraException

        from framework.engine.workers import JobFailed
        from framework.errors import UserError

        config = copy.deepcopy(self._config)
        place = str(work.directory).replace("\\", "\\\\").replace("'", "\\'")
        config.hydra.sweep.dir = str(work.directory)
        config.hydra.overrides.hydra.append(f"hydra.sweep.dir='{place}'")
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=self._context, task_function=work, config=config
        )
        begun = 0
        while ready := work.ready():
            if isinstance(launcher, Processes):  # it asks for jobs as they can begin
                ready = list(range(len(work.jobs)))
            jobs = [[*work.jobs[number].plan.overrides] for number in ready]
            work.at_once = _at_once(config.hydra.launcher, len(jobs))
            try:
                returned = launcher.launch(jobs, initial_job_idx=begun)
            except (UserError, HydraException):
                raise
            except Exception as error:  # the launcher's own: what a job raised is in its return
                if isinstance(launcher, Processes):
                    raise
                first = next(iter(str(error).splitlines()), "")
                raise JobFailed(
                    f"hydra/launcher={chosen}: {type(error).__name__}: {first}; what is measured "
                    f"is kept, go on with resume={work.directory}"
                ) from None
            if isinstance(launcher, Processes):
                return
            begun += len(ready)
            for number, job in zip(ready, returned, strict=True):
                with contextlib.redirect_stderr(io.StringIO()):
                    outcome = job.return_value  # raises what the job did, and would print more
                work.ended(number, outcome)


class Tune(Grid):
    """Chooses the settings of every arm on cases of its own, then compares them on the others.

    trials : for every arm. objective : the axis to make best; None for the domain's. space : by arm
    and setting, what is searched (`plugins.tuning.sweep.Asked`).
    """

    no_estimate = "not of a tuned sweep; estimate its arms without +experiment=tune"
    """Its trials follow from what is measured (`framework.engine.dry_run`)."""

    def __init__(self, params: Any, trials: Any, objective: Any, space: Any) -> None:
        super().__init__(params)
        self._asked = {"trials": trials, "objective": objective, "space": space}

    def sweep(self, arguments: list[str]) -> Any:
        """Tune and compare. Raises UserError for a mistake, with nothing written."""
        if self._config.get("resume") is not None:
            super().sweep(arguments)
        if self._config.get("shards") is not None:
            from framework.errors import UserError

            raise UserError("shards: not of a tuned sweep; leave it out")
        if self._config.get("dry_run") is True:
            from framework.errors import UserError

            raise UserError(f"dry_run: {self.no_estimate}")
        self._check_launcher()
        self._check_here()
        from plugins.tuning.sweep import Asked, start

        space = self._asked["space"]
        plain = OmegaConf.to_container(space, resolve=True) if space else {}
        asked = Asked(**{**self._asked, "space": plain})
        raise SystemExit(start(self._config, arguments, self._launch, asked))


def _at_once(launcher: Any, jobs: int) -> int:
    """How many of so many jobs a launcher may run together, by the settings of joblib or Slurm."""
    from framework.engine.workers import cores

    if "n_jobs" in launcher:
        most = launcher.n_jobs if launcher.n_jobs > 0 else cores()
    else:
        most = launcher.get("array_parallelism") or jobs
    return min(int(most), jobs)


class _Launcher(Launcher):
    """Keeps the work of a sweep, whose jobs it runs."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self._work: Any = task_function

    def check(self) -> None:
        """Raise UserError where it could run nothing."""


class Processes(_Launcher):
    """Runs the jobs of a sweep in forks of this process: as many at once as there are cores.

    workers : at most so many; None for all cores. One job or one core needs no other process: all
    run in this one.
    """

    def __init__(self, workers: Any = None) -> None:
        self._workers = workers

    def check(self) -> None:
        from framework.errors import UserError

        if self._workers is not None and (not isinstance(self._workers, int) or self._workers < 1):
            raise UserError(f"hydra.launcher.workers: {self._workers!r} given, at least 1 expected")

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run them all. Raises UserError where the sweeper is not ours."""
        from framework.engine.work import SweepWork, in_processes, in_turn
        from framework.engine.workers import cores
        from framework.errors import UserError

        work = self._work
        if not isinstance(work, SweepWork):
            raise UserError("hydra/launcher=processes goes with hydra/sweeper=grid")
        size = min(cores() if self._workers is None else self._workers, len(work.jobs))
        if size == 1:
            in_turn(work)
        else:
            in_processes(work, size)
        done = JobReturn(status=JobStatus.COMPLETED)
        return [done for _ in job_overrides]


class Ray(_Launcher):
    """Runs the jobs of a sweep as tasks of a Ray cluster.

    address : of the cluster; None for that of `RAY_ADDRESS`, or one of this machine alone. cpus :
    that a job takes. retries : how often a job whose process or node was lost begins again, on
    another one; it goes on where it stopped.
    """

    def __init__(self, address: Any = None, cpus: Any = 1, retries: Any = 3) -> None:
        self._address, self._cpus, self._retries = address, cpus, retries

    def check(self) -> None:
        from framework.errors import UserError

        try:
            import ray  # noqa: F401
        except ImportError:
            raise UserError("hydra/launcher=ray: pip install 'decisionbench[ray]'") from None

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run them all. Raises Ray's own errors."""
        import ray

        started = not ray.is_initialized()
        if started:
            ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR)
        try:
            run = ray.remote(num_cpus=self._cpus, max_retries=self._retries)(_in_place)
            tasks = [run.remote(str(Path.cwd()), self._work, [*given]) for given in job_overrides]
            return [_returned(task) for task in tasks]
        finally:
            if started:
                ray.shutdown()


def _in_place(place: str, work: Any, overrides: list[str]) -> Any:
    """Run one job of a sweep where its paths are relative to."""
    os.chdir(place)
    return work.run_given(overrides)


def _returned(task: Any) -> JobReturn:
    """What a task of Ray gave or raised, as a launcher hands it on."""
    import ray

    try:
        found = JobReturn(status=JobStatus.COMPLETED)
        found.return_value = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        found = JobReturn(status=JobStatus.FAILED)
        found.return_value = error.cause
    return found


class OwnDirectory(Callback):
    """Keeps Hydra from making a run's directory before anything is checked.

    The run makes it whole or not at all; where it is to be stands in `hydra.run.chosen`.
    """

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        try:
            chosen = str(config.hydra.run.dir)
        except OmegaConfBaseException:
            return  # Hydra meets it as well, and tells of it
        with open_dict(config.hydra.run):
            config.hydra.run.chosen = chosen
        config.hydra.run.dir = "."


def _mode_of(resume: Any, shards: Any) -> str | None:
    """MULTIRUN for a sweep that is resumed or a run in shards; otherwise the command line says."""
    if resume is None and shards is not None:
        return "MULTIRUN"
    if resume is not None and (Path(str(resume)) / "sweep_plan.json").is_file():
        return "MULTIRUN"
    return None


OmegaConf.register_new_resolver("mode_of", _mode_of, replace=True)
# Plain nodes: as Hydra imports this file, a dataclass can't be made of annotations that are text.
_store = ConfigStore.instance().store
_store(
    group="hydra/sweeper",
    name="grid",
    node={"_target_": "hydra_plugins.decisionbench_launch.Grid", "params": {}},
    provider="decisionbench",
)
_store(
    group="hydra/launcher",
    name="processes",
    node={"_target_": "hydra_plugins.decisionbench_launch.Processes", "workers": None},
    provider="decisionbench",
)
_store(
    group="hydra/launcher",
    name="ray",
    node={
        "_target_": "hydra_plugins.decisionbench_launch.Ray",
        "address": None, "cpus": 1, "retries": 3,
    },
    provider="decisionbench",
)  # fmt: skip
