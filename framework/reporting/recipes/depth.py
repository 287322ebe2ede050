"""The Depth paper's tables and figures, from sweeps over governed corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.errors import UserError
from framework.published import Printed, printed
from framework.reporting.evidence import Group, Job, load
from framework.reporting.figures import figure
from framework.reporting.recipes import Hang, Make, needs, recipe
from framework.reporting.recipes.cells import against
from framework.reporting.recipes.knobs import (
    by_depth,
    curves_block,
    jobs_of,
    words,
)
from framework.reporting.report.blocks import NOTHING, Block, Cell, Note, Table, Text

__all__ = ["ARMS"]

ARMS: Final = {
    "Brief": "typed_graph",
    "brief_graph_3hop": "typed_graph",
}
"""The paper's names of arms that are called otherwise here; the others have one name."""


def _ours(label: str) -> str:
    return ARMS.get(label, label)


# --------------------------------------------------------------------------- beside what is printed


def _beside(
    name: str, table: str, title: str, value: Callable[[Job, str], float | None], experiment: str
) -> None:
    """A recipe that sets measured numbers beside a printed table, arm by arm."""

    def make(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
        jobs = jobs_of(sources)
        by_arm = {job.arm: job for job in jobs}
        source = printed("depth")[table]
        yield from words(jobs)
        yield _elsewhere(source)
        rows: list[list[Cell | str]] = []
        for label in dict.fromkeys([*map(_ours, source.values), *by_arm]):
            job = by_arm.get(label)
            texts = next((source.row(k) for k in source.values if _ours(k) == label), {})
            rows.append(
                [label]
                + [
                    against(value(job, column) if job else None, texts.get(column, ""))
                    for column in source.columns
                ]
            )
        yield Table(
            anchor=table.replace("_", "-"),
            caption=f"{source.source}. Under each number: what the paper prints, and the "
            "difference.",
            columns=("", *source.columns),
            rows=rows,
        )

    recipe(name, f"Depth, {printed('depth')[table].source}", title, needs(experiment))(make)


def _elsewhere(source: Printed) -> Block:
    return Note(
        "The printed numbers are the authors', of another corpus, budget and model: they stand "
        f"beside for orientation ({source.standing}), and agreement with them would prove nothing."
    )


_AXES: Final = {
    "compliance": "compliance",
    "recall": "recall",
    "precision": "precision",
    "F1": "f1",
    "merge-ready": "merge_ready",
    "chain recovery": "chain_recovery",
    "RoT": "return_on_tokens",
    "kappa": "kappa",
}


def _axis(job: Job, column: str) -> float | None:
    entry = job.summary["axes"].get(_AXES[column])
    return None if entry is None else entry["mean"]


def _at_depth(axis: str) -> Callable[[Job, str], float | None]:
    def value(job: Job, column: str) -> float | None:
        means = {f"d={point.x:g}": point.mean for point in by_depth(job, axis)}
        if column == "slope":
            ends = means.get("d=1"), means.get("d=3")
            return None if None in ends else ends[1] - ends[0]  # type: ignore[operator]
        return means.get(column)

    return value


def _failures(job: Job, column: str) -> float | None:
    from framework.reporting.figures.outcomes import outcomes

    found = outcomes(job)
    if found is None:
        return None
    lost, kept = (found.parts[part].mean for part in ("lost_wrong", "retained_wrong"))
    if lost is None or kept is None or not lost + kept:
        return None
    return 100 * (lost if column.startswith("not") else kept) / (lost + kept)


_beside("depth/table6", "table_6", "All axes by arm", _axis, "paper_geometry")
_beside("depth/table7", "table_7", "Compliance by depth", _at_depth("compliance"), "paper_geometry")
_beside("depth/table34", "table_34", "Why cases failed", _failures, "paper_geometry")
_beside("depth/table67", "table_67", "Recall by depth", _at_depth("recall"), "paper_geometry")


# ------------------------------------------------------------------------- figures of every report


def _drawn(name: str, source: str, title: str, drawing: str, tables: str = "") -> None:
    """A recipe: a figure that every report has, of a sweep over governed corpora."""

    def make(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
        groups = [group for path in sources for group in load(path).groups]
        yield from words([job for group in groups for job in group.jobs])
        hung = [block for group in groups for block in hang(figure(drawing)(group))]
        if not hung:
            raise UserError(f"{title}: the sweep has not what it needs")
        yield from hung
        for group in groups if tables else ():
            yield from _tables(tables, group)

    recipe(name, source, title, needs("paper_geometry"))(make)


def _tables(name: str, group: Group) -> Iterator[Block]:
    from framework.reporting.report import behaviour, comparisons

    made: dict[str, Callable[[Group], Iterator[Block]]] = {
        "ranks": comparisons.ranks_of,
        "cost": behaviour.cost,
    }
    return made[name](group)


_drawn("depth/F023", "Depth, Figure 47", "Critical difference", "ranks", "ranks")
_drawn("depth/F024", "Depth, Figure 48", "Forest of paired differences", "forest")
_drawn("depth/F027", "Depth, Table 34 (figure F027)", "Failure split", "failures")
_drawn("depth/F020", "Depth, Figure 29", "Accuracy and cost", "pareto", "cost")


@recipe("depth/table10", "Depth, Table 10", "Scorecard", needs("paper_geometry"))
def scorecard(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Wins, near-ties and losses of every arm, none left out, beside the printed tally."""
    from framework.reporting.report import comparisons

    source = printed("depth")["table_10"]
    yield from words(jobs_of(sources))
    for path in sources:
        yield from comparisons.scorecard(load(path))
    printed_tally = "; ".join(f"{name} {row[0]}" for name, row in source.values.items())
    yield Note(
        f"The paper prints for its typed store over 41 axes: {printed_tally}. Its axes, arms and "
        "rule for a near-tie are other ones."
    )


@recipe("depth/F017", "Depth, Figures 56 and 57", "What a memory adds, by axis",
        needs("intervention"))  # fmt: skip
def intervention(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """typed_graph minus no memory at all, paired by case, axis by axis (Product Navigator)."""
    rows: list[list[Cell | str]] = []
    jobs: list[Job] = []
    for path in sources:
        evidence = load(path)
        jobs += evidence.jobs
        for group in evidence.groups:
            by_arm = {job.arm: job for job in group.jobs}
            none = by_arm.get("none")
            for arm, job in by_arm.items():
                if none is not None and arm.startswith("typed_graph"):
                    rows += _lifts(group, arm, job, none)
    if not rows:
        raise UserError("the sweep lacks arch=none or arch=typed_graph")
    yield from words(jobs)
    yield Table(
        anchor="intervention",
        caption="Lift over no memory by axis, the largest first, with 95% BCa intervals",
        columns=("", "axis", "with memory", "without", "lift"),
        rows=sorted(rows, key=_size, reverse=True),
    )


def _size(row: Sequence[Cell | str]) -> float:
    lift = row[-1]
    return abs(lift.value or 0.0) if isinstance(lift, Cell) else 0.0


def _lifts(group: Group, arm: str, job: Job, none: Job) -> list[list[Cell | str]]:
    from framework.statistics.paired import compare

    found: list[list[Cell | str]] = []
    for axis in group.headline:
        if axis not in job.summary["axes"] or axis not in none.summary["axes"]:
            continue
        a = job.means.values.get((job.budget, job.arm), {}).get(axis, {})
        b = none.means.values.get((none.budget, none.arm), {}).get(axis, {})
        shared = a.keys() & b.keys()
        if not shared:
            continue
        paired = compare(
            {c: a[c] for c in shared},
            {c: b[c] for c in shared},
            job.means.clusters,
            seed=int(group.run["seed"]),
            names=("lift", arm, axis),
        )
        low, high = paired.bounds.low, paired.bounds.high
        under = "" if low is None or high is None else f"{low:+.2f} to {high:+.2f}"
        delta = paired.delta
        found.append(
            [
                arm,
                axis,
                against(_axis_mean(job, axis), ""),
                against(_axis_mean(none, axis), ""),
                Cell(text=NOTHING if delta is None else f"{delta:+.2f}", under=under, value=delta),
            ]
        )
    return found


def _axis_mean(job: Job, axis: str) -> float | None:
    mean: float | None = job.summary["axes"][axis]["mean"]
    return mean


# ------------------------------------------------------------------------------ tables with one row


@recipe("depth/table39", "Depth, Table 39", "Seed and traversal", needs("seed_traversal"))
def seed_and_traversal(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Recall by depth of the seed alone and with traversal."""
    jobs = jobs_of(sources)
    yield from words(jobs)
    curves = {job.arm: curve for job in jobs if (curve := by_depth(job, "recall"))}
    if not curves:
        raise UserError("the runs have no recall by depth")
    yield curves_block("seed-traversal", "recall by depth", "depth", curves)
    source = printed("depth")["table_39"]
    yield Text(
        "The paper prints: "
        + "; ".join(f"{label} {', '.join(row)}" for label, row in source.values.items())
        + "."
    )


def _four_cells(table: str) -> Make:
    def make(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
        jobs = jobs_of(sources)
        source = printed("depth")[table]
        yield from words(jobs)
        yield _elsewhere(source)
        rows: list[list[Cell | str]] = []
        for job in jobs:
            spec = "full_spec" if "full" in str(job.summary["run"]["domain"]) else "stripped"
            condition = f"{spec}/{job.arm}"
            theirs = condition.replace("typed_graph", "brief").replace("random_context", "random")
            text = source.row(theirs).get("compliance", "")
            rows.append(
                [condition, *(against(_axis_of(job, axis), text if axis == "compliance" else "")
                              for axis in ("compliance", "merge_ready", "asserted_only"))]
            )  # fmt: skip
        yield Table(
            anchor="four-cell",
            caption="Compliance with and without the specification in the code, and with a memory",
            columns=("", "compliance", "merge ready", "asserted only"),
            rows=rows,
        )

    return make


def _axis_of(job: Job, axis: str) -> float | None:
    entry = job.summary["axes"].get(axis)
    return None if entry is None else entry["mean"]


recipe("depth/F049", "Depth, Tables 40 to 42", "Four-cell ablation", needs("four_cell"))(
    _four_cells("table_41")
)
