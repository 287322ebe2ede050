"""What a run or sweep says about its arms: who leads at each budget, by how much, at what cost.

Facts alone; the sentences are the report's. An arm is called better only where a paired comparison
was decided; arms that see gold or have no budget are no choice and lead nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.analysis.evidence import Group, Job, higher_is_better, protocol_of
from framework.errors import UserError
from framework.registry import find, names, plugins

DECIDED: Final = ("a better", "b better", "differs")
"""What a comparison concludes that came out for one of its arms."""
_TOLERANCE: Final = 1e-9
"""Of two sums of the same numbers in another order."""
FEW_CASES: Final = "too few cases"
EQUIVALENT: Final = "equivalent"
HOLD_0: Final = "the bounds within the family contain 0"
_ALPHA: Final = 0.05
NOT_ITS_OWN: Final = ("judge", "control", "measure", "total")
"""Phases of a ledger that are the benchmark's expense and not an arm's; and their sum."""
_BUILT: Final = "ingest_to_correct"
_ANSWERED: Final = "cost_to_correct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An arm's difference from another on the same cases, with its 95% interval.

    why : in a few words why it was not decided (`why_open`); empty where p says so, or it was.
    """

    other: str
    delta: float
    low: float | None
    high: float | None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """The arm of the best mean of an axis at a budget, and whom it is shown to be better than.

    arms : those of the best mean, several where they tie. kind : what the mean rests on. shown :
    decided comparisons that it wins, the narrowest first. open : those that nothing decided.
    n_others : the other arms that have the axis.
    """

    axis: str
    budget: str
    arms: Sequence[str]
    mean: float
    low: float | None
    high: float | None
    kind: str
    shown: Sequence[Difference]
    open: Sequence[Difference]
    n_others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a success takes of an arm at a budget: in all, and of that what building memory takes.

    unit : `tokens` of models, or `usd` at list price where anything had a price.
    """

    arm: str
    budget: str
    whole: float
    built: float
    unit: str


def is_reference(job: Job) -> bool:
    """Whether an arm marks what could be reached: it sees gold, or has no budget."""
    return _sees_gold(job) or bool(job.summary["budget_use"].get("unbudgeted"))


def _sees_gold(job: Job) -> bool:
    return bool(job.summary["budget_use"].get("sees_gold"))


def why_open(row: Mapping[str, Any]) -> str:
    """In a few words what else than p left a comparison undecided; empty where p did, or nothing.

    Of an older sweep, too, the adjusted p says that the bounds within the family did.
    """
    if row["conclusion"] == "cannot conclude":
        return FEW_CASES
    if row["conclusion"] == "equivalent":
        return EQUIVALENT
    below = row["conclusion"] == "undecided" and row["holm_p"] < _ALPHA
    return HOLD_0 if below else ""


def only_controls(group: Group) -> bool:
    """Whether several arms were run, and all of them mark an end of the scale: none is a memory."""
    return len(group.arms) > 1 and all(map(_is_control, group.jobs))


def _is_control(job: Job) -> bool:
    option = job.arm.partition("(")[0]
    try:
        declared = option in names("arch") and find("arch", option).cls.control
    except UserError:  # its module can't be imported here: the page is made all the same
        declared = False
    return bool(declared) or is_reference(job)


def is_empty(job: Job) -> bool:
    """Whether an arm showed nothing of the history in any case: the floor, no memory."""
    return bool(job.summary["budget_use"].get("max_view_tokens") == 0)


def missing_controls(groups: Sequence[Group]) -> dict[str, list[str]]:
    """Of floor and ceiling, what some group was not run with, and the arms that are it."""
    of = [group for group in groups if protocol_of(group.run).controls]
    ran = {
        "floor": all(any(map(is_empty, group.jobs)) for group in of),
        "ceiling": all(any(_sees_gold(job) for job in group.jobs) for group in of),
    }
    arms = [] if all(ran.values()) else plugins("arch")
    return {end: [a.name for a in arms if a.cls.control == end] for end in ran if not ran[end]}


def suspects(group: Group) -> list[tuple[Job, dict[str, bool]]]:
    """Third-party systems that are below no memory, and in what: a fault of an adapter looks so.

    No memory is the arm that showed nothing of the history at the same budget. Of what is retained
    it has nothing, so to be equal to it counts too, but where an arm of ours that shows something
    is equal to it as well: then the budget is too small for any to be above. Where no arm of ours
    that shows something, and sees no gold, is above no memory either, nor shown to be better than
    the system, that is True beside it.
    """
    found = []
    for job in group.jobs:
        if not job.summary["budget_use"].get("adapted"):
            continue
        told = {"it shows nothing in any case": False} if is_empty(job) else {}
        for floor in (other for other in group.jobs if other.budget == job.budget):
            if not is_empty(floor) or floor.summary["budget_use"].get("adapted"):
                continue
            for axis in chief_axes(group):
                own, none = (group.entry(j.arm, j.budget, axis) for j in (job, floor))
                if own is None or none is None:
                    continue
                ours = _ahead_of(floor, group, axis)
                ahead = (own["mean"] - none["mean"]) * (1 if higher_is_better(axis) else -1)
                equal = ahead == 0 and own.get("kind") == "model-free"
                if ahead < 0 or (equal and 0 not in ours):
                    said = f"{axis} {own['mean']:.2f}, {floor.arm} {none['mean']:.2f}"
                    shared = ahead < 0 and ours and max(ours) <= 0
                    told[said] = bool(shared and not _worse_than_ours(job, group, axis))
        if told:
            found.append((job, told))
    return found


def gold_lacks(group: Group) -> list[tuple[str, Job, Job]]:
    """Axes of retention on which an arm that is shown the gold keeps less than the whole history.

    With each axis the two arms. Only where all gold fitted the budget and no row of either failed:
    then what the whole history keeps is in none of the gold that the domain states.
    """
    whole = [j for j in group.jobs if j.summary["budget_use"].get("unbudgeted")]
    given = [j for j in group.jobs if _sees_gold(j)]
    pairs = [
        (one, other)
        for one in given
        for other in whole
        if one.budget == other.budget
        and one.summary["budget_use"].get("could_fill") == 0
        and not (one.summary["errors"]["n"] or other.summary["errors"]["n"])
    ]
    return [
        (axis, one, other)
        for axis in group.headline
        if higher_is_better(axis)
        for one, other in pairs
        if _kind(group, one, axis) == _kind(group, other, axis) == "model-free"
        and _mean(group, one, axis) < _mean(group, other, axis) - _TOLERANCE
    ]


def _mean(group: Group, job: Job, axis: str) -> float:
    return float((group.entry(job.arm, job.budget, axis) or {})["mean"])


def _ours(group: Group, budget: str) -> list[Job]:
    """The memories of ours that show something, and see no gold."""
    return [
        job
        for job in group.jobs
        if job.budget == budget
        and not is_empty(job)
        and not any(job.summary["budget_use"].get(is_) for is_ in ("adapted", "sees_gold"))
    ]


def _worse_than_ours(job: Job, group: Group, axis: str) -> bool:
    """Whether a comparison decided that a memory of ours is better."""
    of = (job.budget, axis)
    rows = [row for row in group.comparisons if (row["budget"], row["axis"]) == of]
    better = {
        *(r["arm_a"] for r in rows if r["arm_b"] == job.arm and r["conclusion"] == "a better"),
        *(r["arm_b"] for r in rows if r["arm_a"] == job.arm and r["conclusion"] == "b better"),
    }
    return any(one.arm in better for one in _ours(group, job.budget))


def _ahead_of(floor: Job, group: Group, axis: str) -> list[float]:
    """By how much the memories of ours are better than the floor."""
    least = (group.entry(floor.arm, floor.budget, axis) or {})["mean"]
    ours = (group.entry(job.arm, job.budget, axis) for job in _ours(group, floor.budget))
    sign = 1 if higher_is_better(axis) else -1
    return [sign * (entry["mean"] - least) for entry in ours if entry is not None]


def chief_axes(group: Group) -> list[str]:
    """The axes that a verdict is about: what memory kept, and whether the answer was right.

    The first axis of the headline that is model-free for some arm, and the domain's success; else
    the first axis of the headline. Each has a better direction.
    """
    directed = [a for a in group.headline if higher_is_better(a) is not None and group.has(a)]
    kept = [a for a in directed if any(_kind(group, job, a) == "model-free" for job in group.jobs)]
    success = str(group.jobs[0].summary.get("success_axis") or "")
    right = [success] if success and group.has(success) and higher_is_better(success) else []
    return list(dict.fromkeys([*kept[:1], *right])) or directed[:1]


def leaders(group: Group, axis: str, kind: str | None = None) -> list[Leader]:
    """Who leads an axis, by budget; nobody where no arm has a mean, or only controls were run.

    kind : only arms whose mean is of this kind, none of them a reference; None for any kind.
    """
    if only_controls(group):
        return []
    return [found for b in group.budgets if (found := _leader(group, axis, b, kind)) is not None]


def leading_job(groups: Sequence[Group]) -> Job | None:
    """The job of the arm that leads the verdict's last axis at the smallest budget.

    None where nobody leads, or one that showed nothing.
    """
    for group in groups:
        for leader in (each for axis in chief_axes(group)[-1:] for each in leaders(group, axis)):
            for arm in leader.arms:
                job = group.job(arm, leader.budget)
                if job is not None and not is_empty(job):
                    return job
    return None


def costs(group: Group) -> list[Cost]:
    """What a success takes, of every arm and budget that had one; in the order of the arms."""
    found = []
    for job in group.by_budget:
        axes = job.summary["axes"]
        for suffix, unit in (("_usd", "usd"), ("", "tokens")):
            built, answered = (axes.get(f"{name}{suffix}") for name in (_BUILT, _ANSWERED))
            if built and answered and None not in (built["mean"], answered["mean"]):
                cost = Cost(
                    arm=job.arm,
                    budget=job.budget,
                    whole=built["mean"] + answered["mean"],
                    built=built["mean"],
                    unit=unit,
                )
                found.append(cost)
                break
    return found


def spent(job: Job) -> float:
    """Tokens of models that an arm takes to answer a case once, without those of `NOT_ITS_OWN`.

    An arm that chooses at random answers a case several times: its rows, not its cases, count.
    """
    phases, cases = job.summary["ledger"].items(), job.summary["run"]["n_cases"]
    used = (entry["tokens_per_case"] for phase, entry in phases if phase not in NOT_ITS_OWN)
    return float(sum(used) * cases / (job.summary["errors"].get("of") or cases))


def asked(jobs: Sequence[Job]) -> set[str]:
    """What kinds of evidence that no model-free figure is, as `kind_of` names them, there are."""
    kinds = {
        str(entry.get("kind"))
        for job in jobs
        for entry in job.summary["axes"].values()
        if entry["mean"] is not None
    }
    return kinds & {"rule-based", "measured with an LLM", "judged by rules"}


def _leader(group: Group, axis: str, budget: str, kind: str | None) -> Leader | None:
    jobs = [
        job for arm in group.arms
        if (job := group.job(arm, budget)) is not None and group.entry(arm, budget, axis)
    ]  # fmt: skip
    jobs = [job for job in jobs if not is_reference(job)] or ([] if kind else jobs)
    jobs = [job for job in jobs if kind in (None, _kind(group, job, axis))]
    if not jobs:
        return None
    sign = 1 if higher_is_better(axis) else -1
    means = {job.arm: float(job.summary["axes"][axis]["mean"]) for job in jobs}
    best = max(sign * mean for mean in means.values())
    arms = [arm for arm, mean in means.items() if sign * mean == best]
    entry = group.entry(arms[0], budget, axis) or {}
    rows = [
        row for row in group.comparisons
        if (row["budget"], row["axis"]) == (budget, axis) and row["delta"] is not None
    ]  # fmt: skip
    own = [(row, _from(row, arms[0])) for row in rows if arms[0] in (row["arm_a"], row["arm_b"])]
    own = [(row, found) for row, found in own if found.other in means and found.other not in arms]
    return Leader(
        axis=axis,
        budget=budget,
        arms=arms,
        mean=means[arms[0]],
        low=entry.get("ci_low"),
        high=entry.get("ci_high"),
        kind=str(entry.get("kind", "")),
        shown=sorted(
            (found for row, found in own if row["conclusion"] in DECIDED),
            key=lambda found: abs(found.delta),
        ),
        open=[found for row, found in own if row["conclusion"] not in DECIDED],
        n_others=len(means) - len(arms),
    )


def _from(row: Mapping[str, Any], arm: str) -> Difference:
    """A comparison as the difference of one of its arms from the other."""
    if row["arm_a"] == arm:
        other, sign, low, high = row["arm_b"], 1, row["ci_low"], row["ci_high"]
    else:
        other, sign, low, high = row["arm_a"], -1, row["ci_high"], row["ci_low"]
    return Difference(
        other=other,
        delta=sign * row["delta"],
        low=None if low is None else sign * low,
        high=None if high is None else sign * high,
        why=why_open(row),
    )


def _kind(group: Group, job: Job, axis: str) -> str:
    entry = group.entry(job.arm, job.budget, axis)
    return str(entry.get("kind", "")) if entry else ""
