"""What was run, and what came out: the paragraph on top and the result tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.analysis.evidence import Evidence, Group, Job
from framework.analysis.summary import unbudgeted
from framework.reporting.blocks import (
    Block,
    Cell,
    Details,
    Heading,
    Listing,
    Note,
    Table,
    Text,
)
from framework.reporting.cells import count, entry_cell
from framework.reporting.format import DAGGER, declared_inputs, nowhere, warned

LABELS = (
    "Findings are what no model had a hand in: retention, surface ceiling, cost without a model.",
    f"An instrument check ({DAGGER}) went through a rule-based model or judge. It shows that the "
    "instrument works and is no evidence about language models.",
    "Measured with an LLM is what a language model answered or judged.",
    "Intervals are at 95%, over cases (over clusters of cases where they are not independent).",
    "Where fewer than 10 clusters of cases are independent, no interval is claimed and none drawn.",
    "A dash is a value that is undefined, never a 0.",
)


def title(evidence: Evidence) -> str:
    """The title of the page."""
    return f"{'Sweep' if evidence.is_sweep else 'Run'} {evidence.path.resolve().name}"


def titled(text: str, group: Group) -> str:
    """A heading, and what tells this group from others where there are several."""
    return f"{text} ({group.differs})" if group.differs else text


def beginning(evidence: Evidence) -> Iterator[Block]:
    """The paragraph, what must be known first, and the labels."""
    yield Text(_paragraph(evidence))
    runs = [job.summary["run"] for job in evidence.jobs]
    if any(run["model_kind"] == "rule-based" for run in runs):
        yield Note(
            "A rule-based model answered: no language model was asked. What went through it is an "
            f"instrument check ({DAGGER}), not evidence about language models; the rest are "
            "findings."
        )
    elif any(run["judge_kind"] == "rule-based" for run in runs):
        yield Note(
            f"A rule-based judge judged: what rests on it is an instrument check ({DAGGER}) of "
            "what the model answered."
        )
    for warning in warned(job.summary for job in evidence.jobs):
        yield Note(f"Warning: {warning}.")
    unfinished = evidence.sweep.get("unfinished", [])
    if unfinished:
        named = ", ".join(unfinished)
        yield Note(f"{len(unfinished)} jobs of the sweep are not finished: {named}.")
    failed = [(job, job.summary["errors"]["n"]) for job in evidence.jobs]
    if any(n for _, n in failed):
        where = ", ".join(f"{job.arm} at {job.budget}: {n}" for job, n in failed if n)
        yield Note(
            f"Rows that failed: {where}. They are left out of means, and their cases of pairs; at "
            "a gate they count as the worst case."
        )
    yield Details("How to read the labels", [Listing(LABELS)])


def results(evidence: Evidence) -> Iterator[Block]:
    """The headline by arm, a table for each setting and budget; then every axis of every job."""
    yield Heading("Results", "results")
    for group in evidence.groups:
        for number, budget in enumerate(group.budgets):
            yield _table(group, budget, f"results-{group.index}-{number}")
    whole = [_every_axis(job, f"axes-{i}") for i, job in enumerate(evidence.jobs)]
    yield Details(f"Every axis of each of the {len(whole)} runs", whole)


def _paragraph(evidence: Evidence) -> str:
    runs = [job.summary["run"] for job in evidence.jobs]

    def all_of(key: str) -> str:
        return ", ".join(dict.fromkeys(str(run[key]) for run in runs))

    arms = list(dict.fromkeys(job.arm for job in evidence.jobs))
    budgets = dict.fromkeys(job.budget for job in evidence.jobs)
    sizes = {
        job.budget: job.summary["fairness"].get("budget_tokens")
        for job in evidence.jobs
        if not unbudgeted(job.summary["fairness"])
    }
    named = ", ".join(
        f"{budget} ({sizes[budget]} tokens)" if sizes.get(budget) else budget for budget in budgets
    )
    verb = "Cases were retrieved for, without a reader" if all_of("protocol") == "retrieve" else (
        f"Reader {all_of('reader')} answered with model {all_of('model')} "
        f"({all_of('model_kind')}), judged by {all_of('judge')} ({all_of('judge_kind')})"
    )  # fmt: skip
    count_ = f"{len(arms)} arms" if len(arms) > 1 else "One arm"
    text = (
        f"{count_} ({', '.join(arms)}) on {all_of('n_cases')} cases of {all_of('domain')}, "
        f"at budget {named}, seed {all_of('seed')}, {all_of('repeats')} "
        f"repeat{'' if all_of('repeats') == '1' else 's'} a case. {verb}."
    )
    if evidence.sweep.get("baseline"):
        text += f" Declared baseline: {evidence.sweep['baseline']}."
    return text


def _table(group: Group, budget: str, anchor: str) -> Table:
    jobs = [job for arm in group.arms if (job := group.job(arm, budget)) is not None]
    axes = [a for a in group.headline if any(a in job.summary["axes"] for job in jobs)]
    rows: list[Sequence[Cell | str]] = [
        [
            job.arm,
            *(entry_cell(job.summary["axes"].get(axis)) for axis in axes),
            count(job.summary["fairness"].get("mean_view_tokens")),
            declared_inputs(job.summary["fairness"]),
        ]
        for job in jobs
    ]
    return Table(
        anchor=anchor,
        caption=(
            f"{group.run['domain']}, budget {budget}, {group.run['n_cases']} cases"
            f"{', ' + group.differs if group.differs else ''}. Means with 95% intervals."
        ),
        columns=["arm", *axes, "view tokens", "declared inputs"],
        rows=rows,
    )


def _every_axis(job: Job, anchor: str) -> Table:
    rows: list[Sequence[Cell | str]] = [
        [axis, entry_cell(entry), count(entry["n"]), entry["method"], entry["kind"]]
        for axis, entry in job.summary["axes"].items()
        if entry["n"]
    ]
    return Table(
        anchor=anchor,
        caption=f"{job.arm}, budget {job.budget} ({job.path.name}){nowhere(job.summary['axes'])}",
        columns=["axis", "mean", "n", "interval", "kind"],
        rows=rows,
    )
