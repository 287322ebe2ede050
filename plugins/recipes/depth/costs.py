"""The Depth paper's trade-offs: tokens, look-alikes, edges kept right, readers and rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.store.answers import answer_records
from plugins.recipes._cells import measured, of_interval, shown
from plugins.recipes.depth._cases import STAR, difference, gain, values
from plugins.recipes.depth._knobs import (
    Sweep,
    by_depth,
    by_setting,
    curves_block,
    curves_by_depth,
    needs,
    placed,
)
from plugins.recipes.depth._orders import order_agreement


@register("recipe", "depth/surface")
class Surface(Sweep):
    """Budget and look-alikes.

    Recall of each arm by budget (rows) and look-alike chains (columns).
    """

    source = "Depth, Figure 22"
    needs = needs("budget_surface")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        place = placed(jobs, "budget.tokens", "domain.distractors")
        arms, budgets, chains = (dict.fromkeys(found) for found in zip(*place, strict=True))
        for arm in arms:
            yield Table(
                anchor=f"surface-{arm}",
                caption=f"Recall of {arm} by budget in tokens and look-alike chains a task",
                columns=("", *(f"{n:g} chains" for n in sorted(chains))),
                rows=[
                    [f"{tokens:g} tokens",
                     *(_mean(place.get((arm, tokens, n))) for n in sorted(chains))]
                    for tokens in sorted(budgets)
                ],
            )  # fmt: skip


@register("recipe", "depth/pruning")
class Pruning(Sweep):
    """Hops and dependency pruning by depth.

    Recall by depth of the typed graph with more hops, and with dependency pruning.
    """

    source = "Depth, Table 38"
    needs = needs("pruning")
    beside = ("table_38",)

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        for axis in ("recall", "precision"):
            curves = curves_by_depth(jobs, axis)
            yield curves_block(f"pruning-{axis}", f"{axis} by depth", "depth", curves)


@register("recipe", "depth/agentic")
class Agentic(Sweep):
    """One question or several.

    Recall and compliance by depth with one question and with several, under one budget.
    """

    source = "Depth, section 18"
    needs = needs("agentic")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        for axis in ("recall", "compliance"):
            curves = {
                f"{job.arm}, {job.summary['run']['reader']}": curve
                for job in jobs
                if (curve := by_depth(job, axis))
            }
            if curves:
                yield curves_block(f"agentic-{axis}", f"{axis} by depth", "depth", curves)
        yield Table(
            anchor="agentic-all",
            caption="Over all depths",
            columns=("", "reader", "recall", "compliance", "calls a case"),
            rows=[
                [job.arm, str(job.summary["run"]["reader"]), _mean(job), _mean(job, "compliance"),
                 _calls(job)]
                for job in jobs
            ],
        )  # fmt: skip


@register("recipe", "depth/cross_model")
class CrossModel(Sweep):
    """Agreement of readers on the order of arms.

    Compliance by reader, and the rank correlation of every two readers over the arms.
    """

    source = "Depth, Figure 44"
    needs = needs("cross_model")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        models = list(dict.fromkeys(str(job.summary["run"]["model"]) for job in jobs))
        arms = list(dict.fromkeys(job.arm for job in jobs))
        place = {(job.arm, str(job.summary["run"]["model"])): job for job in jobs}
        if len(models) < 2 or any((arm, model) not in place for arm in arms for model in models):
            raise UserError("every arm with each of at least two models is needed")
        yield Table(
            anchor="readers",
            caption="Compliance by arm and reader",
            columns=("", *models),
            rows=[[arm, *(_mean(place[arm, model], "compliance") for model in models)]
                  for arm in arms],
        )  # fmt: skip

        cases = sorted(values(place[arms[0], models[0]], "compliance"))
        clusters = [place[arms[0], models[0]].means.clusters[case] for case in cases]

        def read(model: str) -> list[list[float]]:
            found = [values(place[arm, model], "compliance") for arm in arms]
            if any(sorted(one) != cases for one in found):
                raise UserError("the runs have other cases with compliance")
            return [[one[case] for case in cases] for one in found]

        rows: list[list[Cell | str]] = []
        for i, first in enumerate(models):
            for second in models[i + 1 :]:
                seed = int(jobs[0].summary["run"]["seed"])
                tau = order_agreement(read(first), read(second), clusters, seed=seed)
                cell = shown(of_interval(tau))
                rows.append([first, second, cell, tau.method])
        yield Table(
            anchor="agreement",
            caption=f"Kendall's tau-b over the {len(arms)} arms' mean compliance, with 95% limits "
            "over resampled corpora; readers that are one program with other settings agree more "
            "than different language models would",
            columns=("", "and", "tau-b", "interval"),
            rows=rows,
        )


@register("recipe", "depth/maintenance")
class Maintenance(Sweep):
    """What it costs to keep edges right.

    Edges to put right for a fidelity, and the recall that they earn.
    """

    source = "Depth, section 19.3"
    needs = needs("maintenance")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        curves = by_setting(jobs, "domain.fidelity", "recall")
        typed = {arm: curve for arm, curve in curves.items() if edges_of(curve[-1].job) is not None}
        if not typed:
            raise UserError("the runs have no arm with edges")
        yield Text(
            "The cost model: a repair is one edge written. A corpus whose stated links make E "
            "edges and that is left alone has a share q0 of them right, the least fidelity swept; "
            "holding a fidelity q then costs E (q - q0) repairs, whatever finds them. Recall is "
            f"measured; the repairs are arithmetic. Finding what is wrong is not charged. {STAR}"
        )
        rows: list[list[Cell | str]] = []
        for arm, curve in typed.items():
            edges, first = edges_of(curve[-1].job) or 0.0, curve[0]
            for point in curve:
                q, job = float(point.x), point.job
                repairs = edges * (q - float(first.x))
                lift = difference(job, first.job, "recall")
                rows.append(
                    [arm, f"{q:g}", Cell(text=f"{repairs:.0f}", value=repairs),
                     shown(point.measured), gain(lift, 100 / repairs, 3) if repairs else NOTHING,
                     _tokens(job)]
                )  # fmt: skip
        yield Table(
            anchor="maintenance",
            caption="Repairs a corpus, and what they earn",
            columns=("", *("q", "repairs", "recall"),
                     *("recall per 100 repairs", "ingest tokens a case")),
            rows=rows,
        )  # fmt: skip
        plain = {arm: curve for arm, curve in curves.items() if arm not in typed}
        if plain:
            yield curves_block("without", "recall of arms without edges", "fidelity q", plain)


def edges_of(job: Job) -> float | None:
    """Edges that the arm holds of a history, as it reports them; None for an arm without any."""
    first = next(answer_records(job.path))
    found = first.get("arch_report", {}).get("edges")
    return None if found is None else float(found)


def _mean(job: Job | None, axis: str = "recall") -> Cell:
    return shown(measured(None if job is None else job.summary["axes"].get(axis)))


def _calls(job: Job) -> str:
    answer = job.summary["ledger"].get("answer")
    return NOTHING if answer is None else f"{answer['calls'] / job.summary['run']['n_cases']:.1f}"


def _tokens(job: Job) -> str:
    spent = job.summary["ledger"].get("ingest")
    return "0" if spent is None else f"{spent['tokens_per_case']:.0f}"
