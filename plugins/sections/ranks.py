"""Mean ranks of arms, and by how much they must differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framework.registry import register
from framework.reporting.blocks import Block, Cell, Table
from framework.reporting.cells import number_cell, p_cell
from framework.reporting.grouped import GroupedSection
from framework.reporting.tables import titled

if TYPE_CHECKING:
    from framework.analysis.evidence import Group
    from framework.reporting.figures.style import Drawing


@register("section", "ranks")
class Ranks(GroupedSection):
    """Mean ranks by budget, as in the critical-difference diagram."""

    place = 450
    title, anchor = "Ranks", "ranks"
    draws = ("ranks",)

    def draw(self, name: str, group: Group) -> Drawing | None:
        from plugins.sections.figures.ranks import ranks

        return ranks(group)

    def tables(self, group: Group) -> Iterator[Block]:
        from plugins.sections._outcomes import ranked

        found = {budget: r for budget in group.budgets if (r := ranked(group, budget)) is not None}
        if not found:
            return
        places = {
            budget: dict(zip(r.arms, r.mean_ranks, strict=True)) for budget, (_, r) in found.items()
        }
        rows: list[Sequence[Cell | str]] = [
            [arm, *(number_cell(places[budget].get(arm), 2) for budget in found)]
            for arm in group.arms
            if any(arm in place for place in places.values())
        ]
        for word, values in (
            ("critical difference", [r.critical_difference for _, r in found.values()]),
            ("cases", [float(n) for n, _ in found.values()]),
        ):
            rows.append([word, *(number_cell(v, 0 if word == "cases" else 2) for v in values)])
        rows.append(["Friedman p", *(p_cell(r.omnibus.p) for _, r in found.values())])
        yield Table(
            anchor=f"ranks-table-{group.index}",
            caption=titled("Mean rank over cases, 1 is best", group),
            columns=["arm", *(f"budget {budget}" for budget in found)],
            rows=rows,
        )
