"""What of the papers' rows ran, as `docs/results/papers.md` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.paper_sources import Given, kinds_of, sources, sources_of
from benchmarks.paper_steps import Steps, together
from benchmarks.papers import PAPERS
from plugins.recipes._contents import Entry, contents


def lists_of(steps: Steps) -> dict[str, str]:
    """By the name of its markers on the page of the papers: how each row stands, and each sweep."""
    rows = [(paper, entry) for paper in PAPERS for entry in contents(paper)]
    return {
        "runs-counts": "\n".join(_run_counts(rows, steps)),
        "runs-sweeps": "\n".join(_run_sweeps(steps)),
        "runs": "\n".join(_run_rows(rows, steps)),
    }


def of_row(entry: Entry) -> dict[str, list[str]]:
    """The names of a row's steps: of the authors' rows, and of sweeps here, theirs included."""
    pages = [(recipe, kind) for recipe in entry.by for kind in kinds_of(recipe)]
    sweeps_of = sources_of(entry) if entry.by or entry.report else []
    return {
        "recorded": [f"{recipe} {kind}" for recipe, kind in pages if kind == "recorded"],
        "measured": [*(f"{r} {k}" for r, k in pages if k != "recorded"), *sweeps_of],
    }


def _run_counts(rows: Sequence[tuple[str, Entry]], steps: Steps) -> Iterator[str]:
    yield "|  | rows | ran | in part | failed | not run | no command makes them |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for kind, called in (("recorded", "of the authors' rows"), ("measured", "of sweeps here")):
        states = [together(steps.of_names(of_row(entry)[kind])) for _, entry in rows]
        counts = [states.count(state) for state in ("ran", "failed", "not run", "–")]
        ran, failed, waiting, nothing = counts
        part = len(states) - sum(counts)
        yield f"| {called} | {len(states)} | {ran} | {part} | {failed} | {waiting} | {nothing} |"


def _run_sweeps(steps: Steps) -> Iterator[str]:
    everything = Given(rows=Path(), loops=Path(), hotpotqa=Path())
    yield "| sweep |  | complete (UTC) | at commit | CPU, seconds | remarks |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name in sources(everything):
        (step,) = steps.of_names([name])
        began = step.seconds or step.cut
        yield (
            f"| `{name}` | {step.state} | {step.minute} | {step.at} | "
            f"{step.took if began else ''} | {step.problem.replace('|', '/')} |"
        )


def _run_rows(rows: Sequence[tuple[str, Entry]], steps: Steps) -> Iterator[str]:
    yield (
        "| paper | row | of the authors' rows | of sweeps here | complete (UTC) | at commit | "
        "CPU, seconds |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for paper, entry in rows:
        names = of_row(entry)
        found = {kind: steps.of_names(own) for kind, own in names.items()}
        every = [step for own in found.values() for step in own]
        ran = sorted((s for s in every if s.state == "ran"), key=lambda step: step.made)
        commits = dict.fromkeys(commit for step in ran for commit in step.commits)
        seconds = f"{'>' if any(s.cut for s in ran) else ''}{sum(s.seconds for s in ran):,.1f}"
        yield (
            f"| {paper} | {called(entry)} | {together(found['recorded'])} | "
            f"{together(found['measured'])} | {max((s.minute for s in ran), default='')} | "
            f"{', '.join(commits)} | {seconds if ran else ''} |"
        )


def called(entry: Entry) -> str:
    """The name of an entry in its paper."""
    return entry.number if entry.kind == "parts" else f"{entry.kind[:-1]} {entry.number}"
