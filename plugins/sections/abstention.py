"""When arms decide: shares decided and right, as a curve over thresholds of confidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framework.registry import register
from framework.reporting.blocks import Block, Text
from framework.reporting.cells import count, interval_cell, number_cell
from framework.reporting.grouped import GroupedSection
from framework.reporting.tables import arms_table, means_table

if TYPE_CHECKING:
    from framework.analysis.evidence import Group
    from framework.reporting.figures.style import Drawing


@register("section", "abstention")
class Abstention(GroupedSection):
    """CAR's measures, a curve over confidence thresholds, and the area under it."""

    place = 410
    title, anchor = "Commitment and abstention", "abstention"
    draws = ("commitment", "risk-coverage")

    def draw(self, name: str, group: Group) -> Drawing | None:
        from plugins.sections.figures import planes

        return (planes.commitment if name == "commitment" else planes.risk_coverage)(group)

    def tables(self, group: Group) -> Iterator[Block]:
        from plugins.sections.confidence import car_of, curve_of

        named = (
            *("commit_rate", "default_rate", "conditional_accuracy", "commit_all_accuracy"),
            *("abstention_case", "abstention_view"),
        )
        axes = [axis for axis in named if group.has(axis)]
        if not axes:
            return
        yield from means_table(group, "abstention-table", "Commitment and abstention", axes)
        curves = [
            (job, found.curve) for job in group.by_budget if (found := curve_of(job)) is not None
        ]
        if not curves:
            yield Text(
                "No answer states a confidence, so there is no risk-coverage curve: each arm is "
                "one point of the plane."
            )
        yield from arms_table(
            group,
            "risk-table",
            "Area under the risk-coverage curve: lower is better",
            {
                "area": ("aurc", number_cell),
                "perfect order": ("aurc_optimal", number_cell),
                "no order": ("aurc_random", number_cell),
                "answers": ("n", count),
            },
            curves,
        )
        yield from arms_table(
            group,
            "car-table",
            "CAR over thresholds of the arm's own confidences: decisions with less confidence are "
            "withdrawn, as a reader with a threshold does; at 0 none is",
            {
                "threshold": lambda one: f"{one.threshold:.3f}" if one.threshold else "0",
                "decided": lambda one: interval_cell(one.committed),
                "right among them": lambda one: interval_cell(one.accuracy),
                "decided and right": lambda one: interval_cell(one.right),
            },
            ((job, one) for job in group.by_budget for one in car_of(job)),
        )
