"""What was run, and what came out: the paragraph on top and the result tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from framework.analysis.axes import balanced, with_corrected
from framework.analysis.columns import definitions
from framework.analysis.evidence import Evidence, Group, Job, is_answered
from framework.analysis.summary import SETTING
from framework.analysis.verdict import chief_axes
from framework.registry import find, names
from framework.reporting.blocks import (
    NOTHING,
    Block,
    Cell,
    Details,
    Heading,
    Listing,
    Note,
    Table,
    Text,
)
from framework.reporting.cells import UNDEFINED, count, entry_cell
from framework.reporting.format import (
    DAGGER,
    DOUBLE,
    SECTION,
    declared_inputs,
    mark_of,
    nowhere,
    warned,
)
from framework.reporting.sections.verdict import in_brackets, named, verdict
from framework.reporting.tables import Column, Show, each, table, titled
from framework.text.counting import counted
from framework.text.printable import brief

LABELS = (
    "Model-free: measured without any model, such as retention and the surface ceiling.",
    f"Rule-based ({DAGGER}): made by a rule-based model. It shows that the benchmark works, and is "
    "no evidence about language models.",
    "Measured with an LLM: a language model answered or judged.",
    f"Judged by rules ({SECTION}): a language model answered, and a rule-based judge said whether "
    "that is right. It is no evidence about how a language model would judge.",
    f"Judge's error not known ({DOUBLE}): no calibration says how often such verdicts are wrong.",
    "Intervals are at 95%, over cases (over clusters of cases if these are not independent).",
    "With fewer than 10 independent clusters of cases no interval is given.",
    "A dash is an undefined value, never a 0.",
)


def title(evidence: Evidence) -> str:
    """The title of the page."""
    return f"{'Sweep' if evidence.is_sweep else 'Run'} {evidence.path.resolve().name}"


def beginning(evidence: Evidence) -> Iterator[Block]:
    """The verdict, what was run, what must be known first, and the labels."""
    yield from verdict(evidence)
    yield Text(_paragraph(evidence))
    yield from _by_protocol(evidence)
    yield from notes(evidence)
    yield Details("How to read the labels", [Listing(LABELS)])


def _by_protocol(evidence: Evidence) -> Iterator[Block]:
    """The least and the most of the columns that a protocol puts beside the domain's headline."""
    for group in evidence.groups:
        name = str(group.run["protocol"]).partition(" ")[0].partition("(")[0]
        found = []
        for axis in find("protocol", name).cls.headline if name in names("protocol") else ():
            of: dict[tuple[float, str, str], list[str]] = {}
            for job in group.jobs:
                entry = job.summary["axes"].get(axis)
                if entry and entry["mean"] is not None:
                    limits = in_brackets(entry["ci_low"], entry["ci_high"])
                    of.setdefault((entry["mean"], mark_of(entry), limits), []).append(job.arm)
            ends = dict.fromkeys([min(of), max(of)] if of else [])
            said = [f"{end[0]:.2f}{end[1]}{end[2]} for {named(of[end])}" for end in ends]
            if said:
                found.append(f"{axis} {', '.join(said)}")
        if found:
            yield Text(f"Under protocol={name}: {'; '.join(found)}.")


def terms(evidence: Evidence) -> dict[str, str]:
    """What the columns of the runs' tables mean: of the axes that some case defines, and beside."""
    found = definitions()
    shown = {a for job in evidence.jobs for a, entry in job.summary["axes"].items() if entry["n"]}
    return {name: text for name, text in found.items() if text and (name in shown or " " in name)}


def glossary(found: Mapping[str, str]) -> Iterator[Block]:
    """The columns of the page with their definitions, in alphabetical order."""
    yield Heading("Columns", "columns")
    yield table(
        "columns-table",
        "What each column means. Depth, LongHorizon and Regimes are the three papers.",
        {"column": lambda pair: pair[0], "meaning": lambda pair: pair[1]},
        sorted(found.items()),
    )


def notes(evidence: Evidence) -> Iterator[Block]:
    """What must be known before a number is believed."""
    runs = [job.summary["run"] for job in evidence.jobs]
    axes = [entry for job in evidence.jobs for entry in job.summary["axes"].values()]
    kinds = {entry.get("kind") for entry in axes}
    if "rule-based" in kinds and any(run["model_kind"] == "rule-based" for run in runs):
        yield Note(
            f"Rule-based model: no language model was called. Values marked {DAGGER} come from "
            "it and are no evidence about language models; all others are model-free."
        )
    if "judged by rules" in kinds:
        yield Note(
            "A rule-based judge said which answers are right: values that depend on it are "
            f"marked {SECTION} and are no evidence about how a language model would judge."
        )
    for warning in (*evidence.warnings, *warned(job.summary for job in evidence.jobs)):
        yield Note(f"Warning: {warning}.")
    others = [job for job in evidence.jobs if job.summary["budget_use"].get("adapted")]
    if others:
        # An older sweep.json does not say of its jobs whether they were tested.
        told = [job for job in others if "checks" in job.summary or "directory" not in job.summary]
        names, untested = (
            list(dict.fromkeys(job.arm for job in jobs))
            for jobs in (others, [job for job in told if not job.summary.get("checks")])
        )
        said = ""
        if untested:
            said = f" Not tested with known facts before the run: {named(untested)}; "
            said += "`decisionbench probe NAME` tests it."
        elif len(told) == len(others):
            said = " Each was tested with known facts before its run."
        yield Note(f"Third-party systems: {named(names)}.{said}")
    unfinished = evidence.sweep.get("unfinished", [])
    if unfinished:
        jobs = ", ".join(unfinished)
        yield Note(f"Not finished: {counted(len(unfinished), 'job of the sweep')}: {jobs}.")
    stated: dict[str, list[str]] = {}
    for job in evidence.jobs:
        states = job.summary.get("states", {})
        if states:
            (first, _), n = next(iter(states.items())), sum(states.values())
            more = f", and {len(states) - 1} more such" if len(states) > 1 else ""
            rows = job.summary["errors"]["of"]
            said = f"in {n} of {rows} rows no answer was asked for ({first}{more})"
            stated.setdefault(said, []).append(f"{job.arm} at {job.budget}")
    for said, arms in stated.items():
        yield Note(
            f"{', '.join(arms)}: {said}. These are not errors; means and paired comparisons leave "
            "them out."
        )
    failed = [job for job in evidence.jobs if job.summary["errors"]["n"]]
    if failed:
        where = "; ".join(f"{job.arm} at {job.budget}: {_errors(job)}" for job in failed)
        yield Note(
            f"Failed rows: {where}. Means and paired comparisons leave them out (retention only if "
            "there was no view); a gate counts them as the worst case."
        )


def results(evidence: Evidence) -> Iterator[Block]:
    """The headline by arm, a table for each setting and budget; then every axis of every job."""
    yield Heading("Results", "results")
    yield from main_tables(evidence)
    yield from telling_cases(evidence)
    apart = list(held_out_tables(evidence))
    if apart:
        yield Details("Held-out forms, shown separately", apart)
    whole = [axes_table(job, f"axes-{i}") for i, job in enumerate(evidence.jobs)]
    if evidence.is_sweep:
        yield Details(f"Every axis of each of the {len(whole)} runs", whole)
    else:
        yield from whole


def main_tables(evidence: Evidence, budget: str | None = None) -> Iterator[Table]:
    """The main table of each setting and budget, or of one budget: arms in rows."""
    for group in (group for of in evidence.together_first for group in of.groups):
        for number, one in enumerate(group.budgets):
            if budget in (None, one):
                yield _main_table(group, one, f"results-{group.place}-{number}")


def telling_cases(evidence: Evidence) -> Iterator[Block]:
    """How many cases can tell arms apart, a line for each setting and budget."""
    for of in evidence.together_first:
        yield from _telling(of.sweep.get("telling_cases", []))


def _telling(entries: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    said: dict[tuple[str, ...], list[str]] = {}
    for entry in entries:
        where = tuple(str(entry[key]) for key in (*SETTING, "budget"))
        outcome = "success" if entry["outcome"] == "success" else "whether the view suffices"
        said.setdefault(where, []).append(f"by {outcome} {entry['cases']} of {entry['of']}")
    varied = [i for i in range(len(SETTING)) if len({where[i] for where in said}) > 1]
    for where, parts in said.items():
        asked = ", ".join(f"{SETTING[i]} {where[i]}" for i in varied)
        hint = " Another budget may tell them apart; more cases hardly will." * all(
            " 0 of " in p for p in parts
        )
        at = f"budget {where[-1]}{f' ({asked})' if asked else ''}"
        yield Text(f"Cases that tell arms apart at {at}: {', '.join(parts)}.{hint}")


def _main_table(group: Group, budget: str, anchor: str) -> Table:
    """The headline axes by arm, how much it was shown, and what it was told."""
    jobs = [job for arm in group.arms if (job := group.job(arm, budget)) is not None]
    companions = {axis: name for name, axis in balanced().items()}
    named = (n for axis in group.headline for n in (*with_corrected([axis]), companions.get(axis)))
    axes = [n for n in named if n and any(n in job.summary["axes"] for job in jobs)]
    run, rooms = group.run, [job.summary["budget_use"] for job in jobs]
    tokens = next((room.get("budget_tokens") for room in rooms if not room.get("unbudgeted")), None)
    asked = f", reader {run['reader']}, model {run['model']} ({run['model_kind']})"
    return table(
        anchor,
        f"{run['domain']}, budget {budget}{f' ({tokens} tokens)' if tokens else ''}, "
        f"{counted(run['n_cases'], 'case')}{asked if is_answered(run) else ''}"
        f"{', ' + group.differs if group.differs else ''}{_best_constant(jobs)}"
        f"{_read_forms(jobs)}",
        {
            "arm": "arm",
            **each(axes, entry_cell),
            "view tokens": ("room", lambda room: count(room.get("mean_view_tokens"))),
            "declared inputs": ("room", declared_inputs),
        },
        [
            {**job.summary["axes"], "arm": job.arm, "room": room}
            for job, room in zip(jobs, rooms, strict=True)
        ],
    )


def short_table(group: Group) -> Table:
    """The axes of the verdict, by arm and budget, and what each arm was told."""
    axes = chief_axes(group)
    places = [(budget, axis) for budget in group.budgets for axis in axes]
    several = len(group.budgets) > 1
    columns: dict[str, Column] = {
        f"{budget} {axis}" if several else axis: _entry_at(group, budget, axis)
        for budget, axis in places
    }
    told = {job.arm: declared_inputs(job.summary["budget_use"]) for job in group.jobs}
    of = f"{group.run['domain']}, {counted(group.run['n_cases'], 'case')}"
    return table(
        f"short-{group.index}",
        f"{titled(of, group)}; means with 95% intervals{_best_constant(group.jobs)}"
        f"{_read_forms(group.jobs)}",
        {"arm": str, **columns, "declared inputs": lambda arm: told[arm]},
        group.arms,
    )


def _entry_at(group: Group, budget: str, axis: str) -> Show:
    return lambda arm: entry_cell(group.entry(arm, budget, axis))


def _read_forms(jobs: Sequence[Job]) -> str:
    """Of how many cases the model's figures are, where it was not made to read all forms."""
    unread = max((job.summary.get("unread", 0) for job in jobs), default=0)
    total = max((int(job.summary["run"]["n_cases"]) for job in jobs), default=0)
    if not unread:
        return ""
    if unread == total:
        return "; in forms that the model was not made to read"
    return (
        f"; figures with † are of {total - unread}, in forms that the model reads, the others apart"
    )


def held_out_tables(evidence: Evidence) -> Iterator[Table]:
    """The headline over the cases in forms that the model was not made to read, where some are."""
    for group in evidence.groups:
        jobs = [job for job in group.by_budget if _unread(job)]
        named = with_corrected(group.headline)
        axes = [a for a in named if any(a in _unread(job) for job in jobs)]
        if jobs:
            yield table(
                f"held-out-{group.index}",
                titled("Cases in forms that the rule-based model was not written to read", group),
                {"arm": "arm", "budget": "budget", **each(axes, entry_cell)},
                [{**_unread(job), "arm": job.arm, "budget": job.budget} for job in jobs],
            )


def _unread(job: Job) -> dict[str, Any]:
    """The entries over the unread form of a run that pools others; empty where none is apart."""
    if job.summary.get("unread", 0) in (0, job.summary["run"]["n_cases"]):
        return {}
    kinds = {axis: entry["kind"] for axis, entry in job.summary["axes"].items() if "kind" in entry}
    found = job.summary["strata"].get("form=held_out", {})
    return {axis: {**entry, "kind": kinds.get(axis)} for axis, entry in found.items()}


def _best_constant(jobs: Sequence[Job]) -> str:
    """What always giving one decision would earn: an arm below it has shown nothing."""
    found: Mapping[str, float] = next((job.summary.get("constants", {}) for job in jobs), {})
    if not found or not any(is_answered(job.summary["run"]) for job in jobs):
        return ""
    best = max(found, key=lambda decision: found[decision])
    return f"; always {best} would be right in at most {found[best]:.2f}"


def axes_table(job: Job, anchor: str, *, whole: bool = True, narrow: bool = False) -> Table:
    """Every axis of a run that some case defines, the headline first; not `whole`, that alone.

    narrow : without the kinds of figures, where their marks tell them apart.
    """
    axes, run = job.summary["axes"], job.summary["run"]
    headline = [name for name in with_corrected(job.summary["headline"]) if name in axes]
    rest = {axis: entry for axis, entry in axes.items() if axis not in headline}
    noisy = int(run.get("repeats", 1)) > 1
    shown = [*headline, *(axis for axis, entry in rest.items() if entry["n"])]
    columns: dict[str, Column] = {
        "axis": "axis",
        "mean": _mean,
        "95% interval": _limits,
        **({"noise": ("noise_sd", _noise)} if noisy else {}),
        "n": ("n", count),
        **({"method": "method"} if whole else {}),
        **({} if narrow and _marks_tell(axes[axis] for axis in shown) else {"kind": _kind}),
    }
    return table(
        anchor,
        f"{job.arm}, budget {job.budget}, {counted(run['n_cases'], 'case')}{_read_forms([job])}"
        f"{f' ({job.path.name})' if job.path.name else ''}{nowhere(rest) if whole else ''}",
        columns,
        [{"axis": axis, **axes[axis]} for axis in (shown if whole else headline)],
    )


def _marks_tell(entries: Iterable[Mapping[str, Any]]) -> bool:
    """Whether each kind of figure has a mark of its own, or none as the only one."""
    marks = {_kind(entry): mark_of(entry) for entry in entries}
    return len(set(marks.values())) == len(marks)


def _kind(entry: Mapping[str, Any]) -> str:
    return "; ".join(str(entry[key]) for key in ("kind", "judge_error") if key in entry)


def _mean(entry: Mapping[str, Any]) -> Cell:
    mean = entry_cell(entry)
    return Cell(text=mean.text, value=mean.value)


def _limits(entry: Mapping[str, Any]) -> Cell:
    under = entry_cell(entry).under
    return Cell(text=under or NOTHING, tone="" if under else "quiet")


def _noise(sd: float | None) -> Cell:
    """Two standard deviations of the mean over repeats, the cases as they are."""
    return UNDEFINED if sd is None else Cell(text=f"±{2 * sd:.3f}", value=2 * sd)


def _errors(job: Job) -> str:
    errors = job.summary["errors"]
    kinds = ", ".join(f"{n} {kind}" for kind, n in (errors.get("kinds") or {}).items())
    commonest = brief(errors.get("commonest", ""))
    return f"{errors['n']} ({kinds}){f', most often {commonest}' if commonest else ''}"


def _paragraph(evidence: Evidence) -> str:
    runs = [job.summary["run"] for job in evidence.jobs]

    def all_of(key: str) -> str:
        return ", ".join(dict.fromkeys(str(run[key]) for run in runs))

    arms = list(dict.fromkeys(job.arm for job in evidence.jobs))
    budgets = dict.fromkeys(job.budget for job in evidence.jobs)
    sizes = {
        job.budget: job.summary["budget_use"].get("budget_tokens")
        for job in evidence.jobs
        if not job.summary["budget_use"].get("unbudgeted")
    }
    named = ", ".join(
        f"{budget} ({sizes[budget]} tokens)" if sizes.get(budget) else budget for budget in budgets
    )
    verb = "Retrieval only, without a reader" if not any(map(is_answered, runs)) else (
        f"Reader {all_of('reader')} answered with model {all_of('model')} "
        f"({all_of('model_kind')}), judged by {all_of('judge')} ({all_of('judge_kind')})"
    )  # fmt: skip
    count_ = f"{len(arms)} arms" if len(arms) > 1 else "One arm"
    cases = counted(all_of("n_cases"), "case")
    text = (
        f"{count_} ({', '.join(arms)}) on {cases} of {all_of('domain')}, at budget {named}, "
        f"seed {all_of('seed')}, {counted(all_of('repeats'), 'repeat')} per case. {verb}."
    )
    if evidence.sweep.get("baseline"):
        text += f" Declared baseline: {evidence.sweep['baseline']}."
    return text
