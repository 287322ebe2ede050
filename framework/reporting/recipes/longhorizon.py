"""LongHorizon's tables 1-8 and figures 3-5, from recorded rows or from sweeps over its domains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.analysis.evidence import Job, load
from framework.errors import UserError
from framework.reanalysis.published import published_tables
from framework.reanalysis.rows import AXES, BUDGETS, Recorded, column, read_rows
from framework.reanalysis.tables import Table as Published
from framework.reporting.blocks import Block, Note, Table, Text
from framework.reporting.figures.style import Drawing, canvas, handles, legend, legend_height, marks
from framework.reporting.recipes import AddFigure, Make, recipe
from framework.reporting.recipes.cells import beside

__all__ = ["ARMS", "rows_of"]

ARMS: Final = {
    "summ_only": "Summ-only",
    "retr_only_fifo": "Retr-only",
    "typed_routing": "TMC",
    "typed_routing_full": "TMC-full",
    "misrouted": "Misrouted",
    "sam": "SAM",
    "dpm": "DPM",
}
"""Our arms by the names that the paper gives them."""
_AXES: Final = {"FRP": "frp", "RCS": "rcs", "EDA": "eda", "CRR": "crr_published"}
_VERIFIED: Final = "verified"
_NEEDS: Final = (
    "the recorded rows (CSV), or a sweep: python run.py -m domain=loan budget=loose,moderate,tight "
    "arch=summ_only,retr_only_fifo,typed_routing,typed_routing_full,misrouted,sam,dpm"
)
_NEEDS_VERIFIED: Final = (
    "the recorded rows (CSV), or sweeps: python run.py -m domain=loan budget=moderate "
    "arch=summ_only reader=commit, and the same with reader=verified "
    "reader.strictness=strict,moderate,permissive"
)


def rows_of(sources: Sequence[Path]) -> list[Recorded]:
    """The rows of recorded CSV files and of runs and sweeps, as the paper names their arms.

    Of a measured run a case counts once at each budget: its axes averaged over repeats and draws,
    the decision that of its first row. A case that failed scores 0 on every axis.
    """
    rows: list[Recorded] = []
    for source in sources:
        if source.is_file():
            rows += read_rows(source)
        else:
            for job in load(source).jobs:
                rows += _measured(job)
    return rows


def _measured(job: Job) -> Iterator[Recorded]:
    run = job.summary["run"]
    arch, reader = str(run["arch"]), str(run["reader"])
    if reader.startswith(_VERIFIED) and arch == "summ_only":
        _, _, strictness = reader.rstrip(")").partition("strictness=")
        arm = f"VM ({strictness or 'moderate'})"
    elif reader == "commit" and arch in ARMS:
        arm = ARMS[arch]
    else:
        return
    means = job.means.values.get((job.budget, job.arm), {})
    seen: set[str] = set()
    for row in job.rows:
        if row.case_id in seen:
            continue
        seen.add(row.case_id)
        yield Recorded(
            stage="measured",
            case_id=row.case_id,
            arm=arm,
            budget=job.budget,
            gold=str(row.tags.get("decision", "")),
            label=row.decision,
            axes={name: means.get(ours, {}).get(row.case_id, 0.0) for name, ours in _AXES.items()},
        )


# ------------------------------------------------------------------------------------------ tables


def _table(number: int) -> Make:
    def make(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        rows = rows_of(sources)
        for table in published_tables(rows, partial=True):
            if table.number == number:
                yield from _blocks(table, rows)
                return
        raise UserError(f"table {number}: the rows lack its arms or budgets")

    return make


def _blocks(table: Published, rows: Sequence[Recorded]) -> Iterator[Block]:
    yield _origin(rows)
    yield Table(
        anchor=f"table-{table.number}",
        caption=(
            f"Table {table.number}. {table.title}, in the published conventions. Under each "
            "number: what the paper prints, and the difference."
        ),
        columns=("", *table.columns),
        rows=[[label, *map(beside, cells)] for label, cells in table.rows],
    )


def _origin(rows: Sequence[Recorded]) -> Block:
    if any(row.stage != "measured" for row in rows):
        return Text(
            "From the rows that the authors recorded (a language model read and judged them); "
            "`reanalyze longhorizon` lists what a correct convention changes."
        )
    n = len({row.case_id for row in rows})
    return Note(
        f"Measured here on {n} generated cases, which are not the paper's ten: the printed numbers "
        "stand beside for orientation, and equal ones would prove nothing. With a rule-based model "
        "or judge these are instrument checks, not evidence about language models."
    )


for _number, _title in (
    (1, "Same decision accuracy, different profiles"),
    (2, "Mean of each axis by architecture"),
    (3, "Paired statistics, summaries against retrieval"),
    (4, "The three hypotheses by budget"),
    (5, "The gate of SAM"),
    (6, "DPM against Summ-only, paired"),
    (7, "Commitment of the verified reader"),
    (8, "Strictness of verification"),
):
    recipe(
        f"longhorizon/table{_number}",
        f"LongHorizon, Table {_number}",
        _title,
        _NEEDS_VERIFIED if _number in (7, 8) else _NEEDS,
    )(_table(_number))


# ----------------------------------------------------------------------------------------- figures


@recipe("longhorizon/figure3", "LongHorizon, Figure 3", "Profile of every arm by budget", _NEEDS)
def profile(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """One panel a budget: the four axes of each arm as points."""
    rows = rows_of(sources)
    arms, budgets = _arms(rows), _budgets(rows)
    look = marks(arms)
    width = 1.2 + 2.4 * len(budgets)
    told = []
    with canvas(width, 2.9 + legend_height(width, arms), 1, len(budgets), sharey=True) as (
        figure,
        panels,
    ):
        for panel, budget in zip(panels[0], budgets, strict=True):
            for place, arm in enumerate(arms):
                values = [_mean(rows, arm, budget, axis) for axis in AXES]
                step = (place - (len(arms) - 1) / 2) * 0.11
                at = [i + step for i, v in enumerate(values) if v is not None]
                shown = [v for v in values if v is not None]
                mark = look[arm]
                panel.plot(at, shown, ls="", marker=mark.marker, color=mark.colour, mfc=mark.face)
                if shown:
                    told.append(f"{arm} at {budget}: " + ", ".join(f"{v:.2f}" for v in shown))
            panel.set(title=f"budget {budget}", ylim=(-0.04, 1.04))
            panel.set_xticks(range(len(AXES)), AXES)
        panels[0][0].set_ylabel("mean over cases")
        legend(figure, handles(look.values()), arms)
    yield _origin(rows)
    yield from add_figure(
        Drawing(
            name="longhorizon-figure3",
            title="Profile by budget",
            caption="Means over cases in the published conventions; points, so that an arm at 0 "
            "shows.",
            alt=f"Means of {', '.join(AXES)}. " + "; ".join(told),
            figure=figure,
        )
    )


@recipe("longhorizon/figure4", "LongHorizon, Figure 4", "Decision accuracy by budget", _NEEDS)
def accuracy_by_budget(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """EDA of each arm against the budget, with Wilson intervals."""
    from framework.statistics.intervals import wilson

    rows = rows_of(sources)
    arms, budgets = _arms(rows), _budgets(rows)[::-1]
    look = marks(arms)
    told = []
    with canvas(5.6, 3.2 + legend_height(5.6, arms)) as (figure, panels):
        panel = panels[0][0]
        for place, arm in enumerate(arms):
            found = [column(rows, arm, budget, "EDA") for budget in budgets]
            at = [i + (place - (len(arms) - 1) / 2) * 0.06 for i, f in enumerate(found) if f]
            held = [list(f.values()) for f in found if f]
            means = [sum(values) / len(values) for values in held]
            mark = look[arm]
            panel.plot(at, means, ls=mark.line, marker=mark.marker, color=mark.colour,
                       mfc=mark.face, lw=1.2)  # fmt: skip
            for x, values in zip(at, held, strict=True):
                low, high = wilson(round(sum(values)), len(values))
                panel.plot([x, x], [low, high], color=mark.colour, lw=0.8, alpha=0.6)
            told.append(f"{arm}: " + ", ".join(f"{m:.2f}" for m in means))
        panel.set(ylabel="EDA", ylim=(-0.04, 1.04))
        panel.set_xticks(range(len(budgets)), budgets)
        legend(figure, handles(look.values(), line=True), arms)
    yield _origin(rows)
    yield from add_figure(
        Drawing(
            name="longhorizon-figure4",
            title="Decision accuracy by budget",
            caption="EDA with 95% Wilson intervals over cases.",
            alt=f"EDA at {', '.join(budgets)}. " + "; ".join(told),
            figure=figure,
        )
    )


@recipe("longhorizon/figure5", "LongHorizon, Figure 5", "The plane of commitment", _NEEDS_VERIFIED)
def commitment(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """Commit rate against accuracy when committed: Summ-only and the verified reader."""
    rows = rows_of(sources)
    tables = {t.number: t for t in published_tables(rows, partial=True)}
    points = {label: cells for number in (7, 8) if number in tables
              for label, cells in tables[number].rows}  # fmt: skip
    if not points:
        raise UserError("figure 5: the rows hold neither Summ-only nor the verified reader")
    look = marks(list(points))
    told = []
    with canvas(4.8, 3.4 + legend_height(4.8, list(points))) as (figure, panels):
        panel = panels[0][0]
        for label, cells in points.items():
            x, y = cells[1].value, cells[2].value
            if x is not None and y is not None:
                mark = look[label]
                panel.plot(x, y, ls="", marker=mark.marker, color=mark.colour, mfc="none",
                           mew=1.5, ms=8)  # fmt: skip
                told.append(f"{label}: {x:.2f}, {y:.2f}")
        panel.set(xlabel="commit rate", ylabel="right, when committed")
        panel.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
        legend(figure, handles(look.values(), hollow=True), list(points))
    yield _origin(rows)
    yield from add_figure(
        Drawing(
            name="longhorizon-figure5",
            title="The plane of commitment",
            caption="Moderate budget. A point that stands in the same place as another hides it.",
            alt="Commit rate, then accuracy when committed. " + "; ".join(told),
            figure=figure,
        )
    )


def _arms(rows: Sequence[Recorded]) -> list[str]:
    wanted = {row.arm for row in rows if not row.arm.startswith("VM")}
    found = [arm for arm in ARMS.values() if arm in wanted]
    if not found:
        raise UserError("the rows hold none of the paper's arms")
    return found


def _budgets(rows: Sequence[Recorded]) -> list[str]:
    held = {row.budget for row in rows}
    return [budget for budget in BUDGETS if budget in held]


def _mean(rows: Sequence[Recorded], arm: str, budget: str, axis: str) -> float | None:
    values = list(column(rows, arm, budget, axis).values())
    return sum(values) / len(values) if values else None
