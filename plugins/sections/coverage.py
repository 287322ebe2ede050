"""How often limits such as those on the page hold, as simulated from known truths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Details, Table, Text
from framework.text.reading import read_json


@register("section", "coverage")
class Coverage(Section):
    """Simulated coverage of each kind of interval on the page."""

    place = 880

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        methods: set[str] = set()
        for of in evidence.together_first:
            for job in of.jobs:
                methods |= {str(entry["method"]) for entry in job.summary["axes"].values()}
            for row in of.sweep["comparisons"]:
                methods |= {str(row.get("ci_method")), str(row.get("bound_method"))}
        rows = simulated(methods)
        if not rows:
            return
        yield Details(
            "How often such limits hold",
            [
                Text(
                    "Simulated from known truths (make coverage), by number of cases. Coverage: "
                    "share of samples in which nominal 95% limits contain the truth. Error: share "
                    "in which limits at 99.85%, as after Holm's adjustment, do not. ! marks what "
                    "falls short of its claim: such an interval is too short."
                ),
                _table(rows),
            ],
        )


def simulated(methods: Iterable[str]) -> list[Mapping[str, Any]]:
    """What `make coverage` found of limits of these methods."""
    text = resources.files("framework.statistics").joinpath("coverage.json").read_text("utf-8")
    found: list[Mapping[str, Any]] = read_json(text)
    known = sorted({entry["method"] for entry in found}, key=len, reverse=True)
    used = {next((name for name in known if method.startswith(name)), "") for method in methods}
    return [entry for entry in found if entry["method"] in used]


def _table(found: Sequence[Mapping[str, Any]]) -> Table:
    by_row: dict[tuple[str, str, str], dict[int, Mapping[str, Any]]] = defaultdict(dict)
    for entry in found:
        by_row[entry["figure"], entry["data"], entry["kind"]][entry["n"]] = entry
    sizes = sorted({entry["n"] for entry in found})
    return Table(
        anchor="simulated-coverage",
        caption=f"Of simulated samples, {found[0]['samples']:,} per cell, in percent",
        columns=["limits", "data", "share", *(f"n = {n}" for n in sizes)],
        rows=[[*row, *(_cell(cells[n]) for n in sizes)] for row, cells in by_row.items()],
    )


def _cell(entry: Mapping[str, Any]) -> Cell:
    rate = entry["rate"]
    if rate is None:
        return Cell(text="none claimed", tone="quiet")
    digits = 2 if entry["kind"] == "error" else 1
    tone: Any = "bad" if entry["short"] else ""
    text = f"{100 * rate:.{digits}f}{'!' * entry['short']}"
    return Cell(text=text, value=float(rate), tone=tone)
