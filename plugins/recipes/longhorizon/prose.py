"""FRP as the form has it, and as rationale and notice state it, from sweeps over the domains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.analysis.evidence import load
from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Table, Text
from framework.reporting.cells import entry_cell
from plugins.recipes.longhorizon._sources import ARMS

_AXES: Final = {"frp": "form", "frp_prose": "words"}


@register("recipe", "longhorizon/prose")
class Prose(Recipe):
    """Facts in the form, and in rationale and notice."""

    source = "ours: LongHorizon, 3.2, has FRP over what the answer tells"
    needs = (
        "sweeps: decisionbench -m domain=loan budget=loose,moderate,tight "
        "arch=summ_only,retr_only_fifo,typed_routing,misrouted,sam,dpm"
    )

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = [job for source in sources if source.is_dir() for job in load(source).jobs]
        jobs = [job for job in jobs if job.summary["axes"].get("frp", {}).get("n")]
        if not jobs:
            raise UserError("facts in words: the runs have no frp")
        budgets = list(dict.fromkeys(job.budget for job in jobs))
        settings = dict.fromkeys((str(j.summary["run"]["domain"]), j.arm) for j in jobs)
        cell = {
            (str(job.summary["run"]["domain"]), job.arm, job.budget, axis): entry_cell(
                job.summary["axes"].get(axis)
            )
            for job in jobs
            for axis in _AXES
        }
        yield Text(
            "The paper counts a fact that the answer's text tells. `frp` here counts the values "
            "that the answer's form holds, `frp_prose` those that rationale or notice states in "
            "words of its own: a sentence names the fact and gives it its value, and none gives it "
            "another. Sentences copied from the view do not count."
        )
        yield Table(
            anchor="prose",
            caption="Share of the facts in the answer's form, and in words of its own",
            columns=(
                "domain",
                "arm",
                *(f"{budget}, {how}" for budget in budgets for how in _AXES.values()),
            ),
            rows=[
                [
                    domain,
                    ARMS.get(arm, arm),
                    *(
                        cell.get((domain, arm, budget, axis), NOTHING)
                        for budget in budgets
                        for axis in _AXES
                    ),
                ]
                for domain, arm in settings
            ],
        )
