"""The verdict: in a few sentences which arm leads, by how much, at what cost, and what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from framework.analysis.evidence import Evidence, Group, Job, higher_is_better
from framework.analysis.verdict import (
    DECIDED,
    EQUIVALENT,
    FEW_CASES,
    HOLD_0,
    Cost,
    Difference,
    Leader,
    asked,
    chief_axes,
    costs,
    gold_lacks,
    is_empty,
    is_reference,
    leaders,
    missing_controls,
    only_controls,
    spent,
    suspects,
    why_open,
)
from framework.reporting.blocks import Block, Heading, Listing, Note
from framework.reporting.format import DAGGER, MARKS, SECTION, short_limits
from framework.text.counting import counted
from framework.text.printable import brief

_MOST: Final = 5
"""Sentences of a verdict; settings that do not fit are in the tables."""
_MOST_BUDGETS: Final = 3
_MOST_NAMES: Final = 3
_WHY: Final = {
    FEW_CASES: "because of too few cases",
    "": "with p not below .05",
    HOLD_0: "because the bounds within the family contain 0",
    EQUIVALENT: "equivalent",
}
"""By what left comparisons undecided, how it is told of so many."""


def verdict(evidence: Evidence) -> Iterator[Block]:
    """What came out, before any table, in at most five sentences; nothing where nothing did."""
    evidence = evidence.over_seeds
    groups = [group for group in evidence.groups if chief_axes(group)]
    failed = _all_failed(evidence.jobs)
    if not groups and not failed:
        return
    yield Heading("Verdict", "verdict")
    items = [told for told in (failed, _wrong_gold(groups), _suspected(groups)) if told]
    if groups:
        shared = [_models(evidence), _open(evidence)]
        items += [*_settings(groups, _MOST - len(items) - len(shared)), *shared]
    yield Listing(items)
    if missing := missing_controls(groups):
        added = ",".join(arm for arms in missing.values() for arm in arms)
        # An arm's settings that a sweep sets are none of theirs.
        alone = " in a run of its own" if any("=" in job.arm for job in evidence.jobs) else ""
        yield Note(f"{' and '.join(missing)} not run: add arch={added}{alone}.".capitalize())


def _all_failed(jobs: Sequence[Job]) -> str:
    """That no answer of any run was of use, and why most often; empty where one was."""
    errors = [job.summary["errors"] for job in jobs]
    n = sum(error["n"] for error in errors)
    if not n or n < sum(error.get("of", n + 1) for error in errors):
        return ""
    said = max(errors, key=lambda error: int(error["n"]))["commonest"]
    return f"Every row failed, {n} of {n}; most often: {brief(said)}"


def _wrong_gold(groups: Sequence[Group]) -> str:
    """That the gold alone keeps less than the whole history; empty where it nowhere does."""
    for group in groups:
        for axis, gold, whole in gold_lacks(group):
            shown, kept = (job.summary["axes"][axis]["mean"] for job in (gold, whole))
            return (
                f"The gold of {group.run['domain']} is wrong or incomplete: {gold.arm}, which "
                f"shows all of it, has {axis} {shown:.3f} at {gold.budget}; "
                f"{whole.arm} has {kept:.3f}."
            )
    return ""


def _suspected(groups: Sequence[Group]) -> str:
    """Which third-party systems do no better than no memory; empty where none does."""
    found = [one for group in groups for one in suspects(group)]
    faulty = [(job, why) for job, why in found if not all(why.values())]
    below = [(job, why) for job, why in found if all(why.values())]
    said = []
    if faulty:
        said.append(
            f"Suspected adapter fault (no better than no memory): {_of_arms(faulty, _NOR_OURS)}; "
            f"run `decisionbench probe {faulty[0][0].arm}` before you trust its numbers."
        )
    if below:
        said.append(f"Worse than no memory{_NOR_OURS}: {_of_arms(below)}.")
    return " ".join(said)


_NOR_OURS: Final = ", and no arm of ours is above it either"


def _of_arms(found: Sequence[tuple[Job, Mapping[str, bool]]], also: str = "") -> str:
    """Arms with their budgets and reasons; `also` stands behind a reason that excuses."""
    return named(
        [
            f"{job.arm} at {job.budget} ({', '.join(one + also * it for one, it in why.items())})"
            for job, why in found
        ]
    )


def _settings(groups: Sequence[Group], room: int) -> list[str]:
    """The clauses of the one setting, a sentence each; of several settings a sentence a setting."""
    if len(groups) == 1:
        first, *others = _found(groups[0])[:room]
        of = f"{groups[0].differs.capitalize()} together: " if groups[0].differs else ""
        return [f"{of}{first}.", *(f"{clause}." for clause in others)]
    shown = groups if len(groups) <= room else groups[: room - 1]
    left = len(groups) - len(shown)
    said = [f"{group.differs}: {'; '.join(_found(group))}." for group in shown]
    return [*said, f"In the tables: {_more(left, 'setting')}."] if left else said


def _found(group: Group) -> list[str]:
    """A clause for each chief axis, and one for the cost; of controls alone one that says so."""
    if only_controls(group):
        return [
            f"Only controls were run ({named(group.arms)}), which show the limits: no memory leads"
        ]
    of = {axis: leaders(group, axis) for axis in chief_axes(group)}
    said = [_axis(group, axis, found) for axis, found in of.items()]
    return [*said, _cost(group, [leader for found in of.values() for leader in found])]


def _axis(group: Group, axis: str, found: Sequence[Leader]) -> str:
    """Who leads; where rules made that mean, who leads of two or more arms without a model too."""
    best = "Highest" if higher_is_better(axis) else "Lowest"
    alone = len({job.arm for job in group.jobs}) == 1
    free = {leader.budget: leader for leader in leaders(group, axis, "model-free")
            if leader.n_others + len(leader.arms) > 1}  # fmt: skip
    said = []
    for leader in _ends(found):
        told = f"at {_budget(group, leader.budget)} {_lead(group, leader)}"
        if leader.kind == "rule-based" and leader.budget in free:
            told += f", and among arms without {DAGGER} {_lead(group, free[leader.budget])}"
        if constant := _as_constant(group, axis, leader):
            told += f", {constant}"
        said.append(told)
    between = len(found) - _MOST_BUDGETS
    said += [f"{_more(between, 'budget')} in the table"] if between > 0 else []
    right = "right answers" if axis == group.jobs[0].summary.get("success_axis") else ""
    flags = (job.summary["axes"].get(axis, {}).get("judge_error") for job in group.jobs)
    of = ", ".join(filter(None, (right, next(filter(None, flags), ""))))
    named = f"{axis} ({of})" if of else axis
    return f"{named if alone else f'{best} {named}'}: {'; '.join(said)}"


def _as_constant(group: Group, axis: str, leader: Leader) -> str:
    """That the leader is not above one answer to every case; empty where it is, or none is."""
    job = group.job(leader.arms[0], leader.budget)
    if job is None or axis != job.summary.get("success_axis"):
        return ""
    shares = job.summary.get("constants") or {}
    best = max(shares, key=lambda name: float(shares[name]), default="")
    if not best or not higher_is_better(axis) or leader.mean > shares[best]:
        return ""
    return f"not above {best} for every case ({shares[best]:.2f})"


def _more(n: int, word: str) -> str:
    return f"{n} more {word}{'s' * (n > 1)}"


def _ends(found: Sequence[Leader]) -> Sequence[Leader]:
    """All budgets, or the smallest two and the largest."""
    return found if len(found) <= _MOST_BUDGETS else [*found[: _MOST_BUDGETS - 1], found[-1]]


def _budget(group: Group, budget: str) -> str:
    tokens = (job.summary["budget_use"].get("budget_tokens") for job in group.jobs
              if job.budget == budget and not is_reference(job))  # fmt: skip
    size = next((t for t in tokens if t), None)
    return f"{budget} ({counted(size, 'token', ',')})" if size else budget


def _lead(group: Group, leader: Leader) -> str:
    mark = MARKS.get(leader.kind, "")
    mean = f"{leader.mean:.2f}{mark}{in_brackets(leader.low, leader.high)}"
    jobs = filter(None, (group.job(arm, leader.budget) for arm in leader.arms))
    if failed := sum(job.summary["errors"]["n"] for job in jobs):
        mean += f", not counting {counted(failed, 'failed row')}"
    if len(leader.arms) > 1:
        return f"{named(leader.arms)} tied, {mean}"
    said = f"{leader.arms[0]}, {mean}"
    told = _against(group, leader)
    return f"{said}, {told}" if told else said


def _against(group: Group, leader: Leader) -> str:
    """Whom the leader is shown to be better than, and from whom it is not told apart."""
    shown, undecided = leader.shown, leader.open
    if not shown and not undecided:
        return ""
    with_baseline = [f for f in (*shown, *undecided) if f.other == group.baseline]
    if with_baseline or len(shown) + len(undecided) == 1:
        (found,) = with_baseline or [*shown, *undecided]
        if found in shown:
            return f"better than {found.other} by {_delta(found)}"
        alone = (
            found.low is not None and found.high is not None and not found.low <= 0 <= found.high
        )
        why = found.why
        once = " after adjustment for all comparisons" if alone and why != HOLD_0 else ""
        told = f"undecided{once}{f' ({why})' if why else ''}"
        return f"not shown to be better than {found.other}: {_delta(found)}, {told}"
    if not shown:
        return _not_apart(undecided)
    closest = shown[0]
    if len(shown) == leader.n_others:
        others = f"all {leader.n_others} others"
        return f"better than {others}, than the closest ({closest.other}) by {_delta(closest)}"
    apart = f", {_not_apart(undecided)}" if undecided else ""
    better = f"better than {len(shown)} of {leader.n_others} others"
    return f"{better}, than the closest of them ({closest.other}) by {_delta(closest)}{apart}"


def _not_apart(undecided: Sequence[Difference]) -> str:
    """From whom an arm is not told apart, by what else than p is the reason."""
    by_reason: dict[str, list[str]] = {}
    for found in undecided:
        by_reason.setdefault(found.why, []).append(found.other)
    said = [f"{named(arms)}{f' ({why})' if why else ''}" for why, arms in by_reason.items()]
    return f"not told apart from {', nor from '.join(said)}"


def _delta(found: Difference) -> str:
    return f"{found.delta:+.2f}{in_brackets(found.low, found.high, '+')}"


def in_brackets(low: float | None, high: float | None, sign: str = "") -> str:
    """` (.24–.76)`, with a sign ` (-.10 to +.31)`; empty where there are no limits."""
    if low is None or high is None:
        return ""
    joint = " to " if sign else "–"
    return f" ({joint.join(short_limits(low, high, sign))})"


def named(names: Sequence[str]) -> str:
    """`a, b and c`, `a, b and 5 more`."""
    shown, left = list(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    if left > 0:
        shown = [*names[: _MOST_NAMES - 1], f"{left + 1} more"]
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def _cost(group: Group, found: Sequence[Leader]) -> str:
    """What a success takes of those that lead, of the cheapest memory and of the baseline."""
    of = costs(group)
    if not of:
        return _spent(group.jobs)
    said = []
    for budget in dict.fromkeys(leader.budget for leader in found):
        here = {cost.arm: cost for cost in of if cost.budget == budget}
        choices = [c for arm, c in here.items() if _remembers(group, arm, budget)]
        ahead = [leader.arms[0] for leader in found if leader.budget == budget]
        cheapest = [c.arm for c in sorted(choices, key=lambda c: c.whole)[:1]]
        arms = dict.fromkeys([*ahead, *cheapest, group.baseline])
        chosen = sorted((here[a] for a in arms if a in here), key=lambda cost: cost.whole)
        if chosen:
            said.append(f"at {budget} " + ", ".join(_amount(group, cost) for cost in chosen))
    if len(said) > _MOST_BUDGETS:
        said = [*said[: _MOST_BUDGETS - 1], said[-1]]
    unit = "dollars" if any(cost.unit == "usd" for cost in of) else "model tokens"
    return f"Cost of a right answer in {unit}, including building the memory: {'; '.join(said)}"


def _remembers(group: Group, arm: str, budget: str) -> bool:
    """Whether an arm is a choice of memory: no reference, and it showed the reader something."""
    job = group.job(arm, budget)
    return job is not None and not is_reference(job) and not is_empty(job)


def _amount(group: Group, cost: Cost) -> str:
    def amount(value: float) -> str:
        return f"${value:,.4f}" if cost.unit == "usd" else f"{value:,.0f}"

    job = group.job(cost.arm, cost.budget)
    empty = " (with an empty view)" if job is not None and is_empty(job) else ""
    built = f" ({amount(cost.built)} to build)" if cost.built else ""
    return f"{cost.arm} {amount(cost.whole)}{built}{empty}"


def _spent(jobs: Sequence[Job]) -> str:
    tokens = [(job, spent(job)) for job in jobs]
    if not any(amount for _, amount in tokens):
        return "No arm called a model, so none used any tokens"
    found = ", ".join(f"{job.arm} {amount:,.0f}" for job, amount in tokens if amount)
    return f"Model tokens per case, including building the memory: {found}"


def _models(evidence: Evidence) -> str:
    """Whether any language model took part."""
    runs = [job.summary["run"] for job in evidence.jobs]
    kinds = asked(evidence.jobs)
    llms = list(
        dict.fromkeys(
            run.get("answered_by") or run["model"] for run in runs if run["model_kind"] == "llm"
        )
    )
    if not kinds and llms:
        return f"{named(llms)} answered nothing: every figure is model-free."
    if not kinds:
        return "No model took part: every figure is model-free."
    if llms and kinds != {"rule-based"}:
        marks = {
            "rule-based": f"; values marked {DAGGER} come from a rule-based part",
            "judged by rules": f"; values marked {SECTION} were judged by rules",
        }
        told = "".join(text for kind, text in marks.items() if kind in kinds)
        return f"A language model took part ({named(llms)}){told}."
    return f"No language model took part: values marked {DAGGER} were made by rules."


def _open(evidence: Evidence) -> str:
    """What can't be concluded."""
    rows = evidence.sweep["comparisons"]
    if not rows:
        return (
            "One arm alone can't be called good or bad: compare it with others (-m arch=A,B)."
            if len({job.arm for job in evidence.jobs}) == 1
            else "No two runs share their cases and setting, so no arms are compared."
        )
    undecided = sum(row["conclusion"] not in DECIDED for row in rows)
    if not undecided:
        return (
            "The comparison was decided."
            if len(rows) == 1
            else f"All {len(rows)} comparisons were decided."
        )
    reasons = Counter(why_open(row) for row in rows if row["conclusion"] not in DECIDED)
    said = [f"{reasons[why]} {words}" for why, words in _WHY.items() if reasons[why]]
    baselines = {row["arm_b"] for row in rows}
    only = f"; arms were compared with {min(baselines)}, not with each other" if (
        len(baselines) == 1 and len({row["arm_a"] for row in rows}) > 1
    ) else ""  # fmt: skip
    of = counted(len(rows), "comparison")
    return f"Undecided, which does not mean equal: {undecided} of {of} ({', '.join(said)}){only}."
