"""What a report is made from: a finished run or sweep, read back from its directory.

Nothing is measured here. A group is the jobs that differ in arm and budget alone: what tables and
figures set side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from framework.analysis.axes import as_mappings, axis_meta
from framework.analysis.doubts import doubts_of_state, doubts_of_sweep
from framework.analysis.forms import poolable
from framework.analysis.summary import SETTING, setting_of
from framework.analysis.sweep import budget_flags
from framework.contracts import RowKey, RunProtocol
from framework.errors import UserError
from framework.records import Row
from framework.registry import find, names
from framework.rows import by_session
from framework.statistics.comparison import CaseMeans, case_means
from framework.store.answers import answer_lines
from framework.store.directory import ANSWERS, SWEEP_PLAN
from framework.store.former import read_json
from framework.store.shards import began
from framework.store.state import FinishedRun, read_run
from framework.store.sweep import read_sweep, stored_sweep

_MOST_DRAWN: Final = 4


def is_answered(run: Mapping[str, Any]) -> bool:
    """Whether a reader answers under the protocol of a run, as summary.json has it."""
    return bool(protocol_of(run).answers)


def protocol_of(run: Mapping[str, Any]) -> type[RunProtocol[Any]]:
    """The class of a run's protocol; of one that is not known here what any other declares."""
    name = str(run["protocol"]).partition(" ")[0].partition("(")[0]
    known = name in names("protocol")
    return find("protocol", name).cls if known else RunProtocol


@dataclass(frozen=True, kw_only=True)
class Job:
    """A finished run: its directory, summary.json, manifest.json and rows, one a session.

    began, ended : when, as its journal says; empty where it was not read.
    """

    path: Path
    summary: Mapping[str, Any]
    manifest: Mapping[str, Any]
    rows: Sequence[Row]
    began: str = ""
    ended: str = ""

    @property
    def arm(self) -> str:
        """The arm's label."""
        return str(self.summary["run"]["arch"])

    @property
    def budget(self) -> str:
        """The budget's label."""
        return str(self.summary["run"]["budget"])

    @cached_property
    def good(self) -> list[Row]:
        """The rows without an error, with what may be pooled of them (`poolable`)."""
        return [row for row in poolable(self.rows) if not row.error]

    @cached_property
    def means(self) -> CaseMeans:
        """Every axis by case, repeats and trials averaged, under the arm's label."""
        kept = [row for row in self.rows if row.axes or not row.error]
        rows = as_mappings(kept, self.budget)
        return case_means([{**row, "arm": self.arm} for row in rows])

    @cached_property
    def confidences(self) -> dict[RowKey, float]:
        """The confidence that each row's (last) answer states; answers.jsonl is read once.

        Empty where the directory has no such file: rows and summary may be kept without it.
        """
        found: dict[RowKey, float] = {}
        turns = False
        if not (self.path / ANSWERS).is_file():
            return found
        for line in answer_lines(self.path):
            # Views and prompts make lines long: those that state none need not be parsed.
            if not turns and b'"confidence":null' in line[:2000]:
                continue
            record = read_json(line)
            stated = (record.get("answer") or {}).get("confidence")
            case, arm, trial, repeat, turn = record["key"]
            turns = turns or bool(turn)
            found.pop((case, arm, trial, repeat, 0), None)  # the last turn's stands
            if stated is not None:
                found[case, arm, trial, repeat, 0] = float(stated)
        return found


@dataclass(frozen=True, kw_only=True)
class Group:
    """Jobs of one setting, which differ in arm and budget alone, with their comparisons.

    index : counted from 0 in the report. differs : what of the setting other groups have otherwise,
        empty where there is one group. comparisons : those of sweep.json that are of this setting.
    cost_effectiveness : and the differences in successes per 1,000 tokens.
    """

    index: int
    differs: str
    jobs: Sequence[Job]
    comparisons: Sequence[Mapping[str, Any]]
    baseline: str | None = None
    smallest_effect: float | None = None
    cost_effectiveness: Sequence[Mapping[str, Any]] = ()

    @cached_property
    def run(self) -> Mapping[str, Any]:
        """What the group's runs share, as the first has it."""
        shared: Mapping[str, Any] = self.jobs[0].summary["run"]
        return shared

    @property
    def place(self) -> str:
        """The index, in the name of a table: no two of a page are alike."""
        return f"seeds-{self.index}" if isinstance(self.run["seed"], str) else str(self.index)

    @cached_property
    def arms(self) -> list[str]:
        """Arms in the order of the sweep."""
        return list(dict.fromkeys(job.arm for job in self.jobs))

    @cached_property
    def budgets(self) -> list[str]:
        """Budgets from the smallest."""

        def size(budget: str) -> float:
            tokens = [
                job.summary["budget_use"].get("budget_tokens")
                for job in self.jobs
                if job.budget == budget
            ]
            return max((t for t in tokens if t is not None), default=float("inf"))

        return sorted(dict.fromkeys(job.budget for job in self.jobs), key=size)

    @cached_property
    def headline(self) -> list[str]:
        """The domain's headline axes that some job has."""
        named = dict.fromkeys(axis for job in self.jobs for axis in job.summary["headline"])
        return [axis for axis in named if any(axis in job.summary["axes"] for job in self.jobs)]

    def job(self, arm: str, budget: str) -> Job | None:
        """The job of an arm at a budget; None where the sweep has none."""
        return self._by_place.get((arm, budget))

    def entry(self, arm: str, budget: str, axis: str) -> Mapping[str, Any] | None:
        """An axis of a job as summary.json has it; None where it is not there or has no mean."""
        job = self.job(arm, budget)
        found: Mapping[str, Any] | None = job.summary["axes"].get(axis) if job else None
        return None if found is None or found["mean"] is None else found

    def has(self, *axes: str) -> bool:
        """Whether some job has a mean of every one of these axes."""
        return all(any(self.entry(j.arm, j.budget, axis) for j in self.jobs) for axis in axes)

    @cached_property
    def by_budget(self) -> list[Job]:
        """The jobs by budget, and then in the order of the arms."""
        return [
            job
            for budget in self.budgets
            for arm in self.arms
            if (job := self.job(arm, budget)) is not None
        ]

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], Job]:
        return {(job.arm, job.budget): job for job in self.jobs}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A run or sweep: its directory, jobs in order, and sweep.json (of a run, without pairs).

    plan : sweep_plan.json; empty for a run. redacted : without words that may be of a case.
    warnings : in what sweep.json is not what its runs give.
    """

    path: Path
    jobs: Sequence[Job]
    sweep: Mapping[str, Any]
    plan: Mapping[str, Any]
    redacted: bool = False
    warnings: Sequence[str] = ()

    @property
    def is_sweep(self) -> bool:
        """Whether this is a sweep."""
        return bool(self.plan)

    @cached_property
    def over_seeds(self) -> Evidence:
        """Runs that differ in their seed alone as one, without rows; itself where none do."""
        found = self.sweep.get("over_seeds")
        if not found:
            return self
        jobs = [Job(path=self.path, summary=job, manifest={}, rows=()) for job in found["jobs"]]
        return replace(self, jobs=jobs, sweep={**self.sweep, **found, "over_seeds": None})

    @property
    def together_first(self) -> list[Evidence]:
        """What is of all seeds together, where there is such, then what is of each run."""
        return [self] if self.over_seeds is self else [self.over_seeds, self]

    @property
    def drawn(self) -> list[Group]:
        """The groups that get figures: a sweep over many seeds would have hundreds."""
        return self.groups[:_MOST_DRAWN]

    @cached_property
    def groups(self) -> list[Group]:
        """One group a setting, in the order of the jobs."""
        settings = list(dict.fromkeys(setting_of(job.summary["run"]) for job in self.jobs))
        varied = [i for i in range(len(SETTING)) if len({s[i] for s in settings}) > 1]
        seed = SETTING.index("seed")
        joined = [seed] if seed not in varied and isinstance(settings[0][seed], str) else []
        return [
            Group(
                index=number,
                differs=", ".join(_told(SETTING[i], setting[i]) for i in (*varied, *joined)),
                jobs=[job for job in self.jobs if setting_of(job.summary["run"]) == setting],
                comparisons=[
                    row for row in self.sweep["comparisons"] if setting_of(row) == setting
                ],
                baseline=self.sweep.get("baseline"),
                smallest_effect=self.sweep.get("smallest_effect"),
                cost_effectiveness=[
                    r for r in self.sweep.get("cost_effectiveness", ()) if setting_of(r) == setting
                ],
            )
            for number, setting in enumerate(settings)
        ]


def _told(key: str, value: Any) -> str:
    """What of a setting a group has; the seeds of runs that are one are a text."""
    return f"seeds {value}" if key == "seed" and isinstance(value, str) else f"{key} {value}"


def printed_names(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By label, how an arm is printed whose embedder is lexical: `dense` as `dense(lexical)`.

    A rule of printing alone: rows, keys and identity keep the label.
    """
    found = {}
    for summary in summaries:
        chosen = str(summary.get("budget_use", {}).get("embedder") or "").partition("(")[0]
        if chosen in names("embedder") and find("embedder", chosen).cls.kind == "lexical":
            label = str(summary["run"]["arch"])
            option, _, settings = label.removesuffix(")").partition("(")
            found[label] = f"{option}({','.join(filter(None, [settings, 'lexical']))})"
    return found


def as_printed(evidence: Evidence) -> Evidence:
    """The evidence with every arm under the name that it is printed with (`printed_names`)."""
    known = printed_names(job.summary for job in evidence.jobs)
    if not known:
        return evidence

    def named(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {named(key): named(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [named(inner) for inner in value]
        return known.get(value, value) if isinstance(value, str) else value

    jobs = [
        replace(job, summary={**job.summary, "run": named(job.summary["run"])})
        for job in evidence.jobs
    ]
    return replace(evidence, jobs=jobs, sweep=named(evidence.sweep), plan=named(evidence.plan))


def higher_is_better(axis: str) -> bool | None:
    """Whether higher is better on an axis; None where neither direction is."""
    found: bool | None = axis_meta().get(axis, {}).get("higher_is_better")
    return found


def of_run(summary: Mapping[str, Any]) -> Evidence:
    """The evidence in the summary of a run alone, to be printed: without rows and manifest."""
    job = Job(path=Path(), summary=summary, manifest={}, rows=())
    return as_printed(Evidence(path=Path(), jobs=[job], sweep=_alone(job), plan={}))


def _alone(job: Job) -> dict[str, Any]:
    """What sweep.json would say of a run that is not of a sweep."""
    return {"comparisons": [], "budget_flags": budget_flags([job.summary])}


def of_sweep(sweep: Mapping[str, Any]) -> Evidence:
    """The evidence in sweep.json, or what compares runs, to be printed: without rows, manifests."""
    jobs = [
        Job(path=Path(job["directory"]), summary=job, manifest={}, rows=()) for job in sweep["jobs"]
    ]
    found = Evidence(path=Path(), jobs=jobs, sweep=sweep, plan={"jobs": sweep["jobs"]})
    return as_printed(found)


def load(path: Path, runs: Sequence[FinishedRun] = ()) -> Evidence:
    """The evidence in the directory of a finished run or a sweep with a finished job.

    runs : what was read of it already. Raises UserError for any other directory, DataError for a
    damaged one.
    """
    known = {run.path: run for run in runs}
    summaries: dict[str, Mapping[str, Any]] = {}

    def job(place: Path) -> Job:
        run = known.get(place) or read_run(place)
        summary = summaries[place.name] = run.summary
        if doubts := doubts_of_state(run.state):
            summary = {**summary, "warnings": [*summary.get("warnings", ()), *doubts]}
        return Job(
            path=place,
            summary=summary,
            manifest=run.manifest,
            rows=by_session(run.rows),
            began=began(run.state),
            ended=run.state.ended,
        )

    if (path / SWEEP_PLAN).is_file():
        sweep = read_sweep(path)
        jobs = [job(path / entry["directory"]) for entry in sweep["jobs"]]
        return Evidence(
            path=path,
            jobs=jobs,
            sweep=sweep,
            plan=stored_sweep(path),
            warnings=doubts_of_sweep(path, sweep, summaries),
        )
    if not path.is_dir():
        raise UserError(f"{path}: no such directory")
    alone = job(path)
    return Evidence(path=path, jobs=[alone], sweep=_alone(alone), plan={})


def redacted(evidence: Evidence) -> Evidence:
    """The evidence without words that may be of a case: errors by their kinds alone.

    Whoever reads more than summaries of redacted evidence leaves out such words itself.
    """
    jobs = [replace(job, summary=_without_words(job.summary)) for job in evidence.jobs]
    sweep = evidence.sweep
    if of_all := sweep.get("over_seeds"):
        told = {**of_all, "jobs": [_without_words(job) for job in of_all["jobs"]]}
        sweep = {**sweep, "over_seeds": told}
    return replace(evidence, jobs=jobs, sweep=sweep, redacted=True)


def _without_words(summary: Mapping[str, Any]) -> dict[str, Any]:
    errors = summary["errors"]
    kinds: dict[str, int] = {}
    for kind, n in errors.get("kinds", {}).items():
        known = kind if _KIND.fullmatch(kind) else "error"
        kinds[known] = kinds.get(known, 0) + n
    commonest = max(kinds, key=kinds.__getitem__, default="")
    return {**summary, "errors": {**errors, "kinds": kinds, "commonest": commonest}}


_KIND: Final = re.compile(r"[\w.]+")
"""A kind of error: the name of its class, or a status."""
