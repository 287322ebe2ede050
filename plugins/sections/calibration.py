"""Whether answers are as right as they say: calibration of stated confidence."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf
from typing import TYPE_CHECKING

from framework.registry import register
from framework.reporting.blocks import Block, Details, Heading, Text
from framework.reporting.cells import bounded, count, interval_cell, number_cell
from framework.reporting.grouped import GroupedSection
from framework.reporting.tables import arms_table

if TYPE_CHECKING:
    from framework.analysis.evidence import Evidence, Group
    from framework.reporting.figures.style import Drawing


@register("section", "calibration")
class Calibration(GroupedSection):
    """Expected calibration error and Brier score by arm, with bins; then conformal thresholds."""

    place = 420
    title, anchor = "Calibration", "calibration"
    draws = ("reliability",)

    def draw(self, name: str, group: Group) -> Drawing | None:
        from plugins.sections.figures import planes

        return planes.reliability(group)

    def tables(self, group: Group) -> Iterator[Block]:
        from plugins.sections.confidence import conformal_of, reliability_of

        found = [
            (job, one) for job in group.jobs if (one := reliability_of(job)) and one.ece is not None
        ]
        yield from arms_table(
            group,
            "calibration-table",
            "Expected calibration error over ten bins, and the Brier score. ECE is biased upwards: "
            "compare it with what a calibrated arm with the same confidences would show by chance",
            {
                "ECE": lambda one: bounded(one.ece, one.ece_low, one.ece_high),
                "by chance": ("ece_by_chance", number_cell),
                "Brier": ("brier", number_cell),
                "answers": ("n", count),
                "without a confidence": ("n_undefined", count),
                "limits": "method",
            },
            found,
        )
        bins = arms_table(
            group,
            "calibration-bins",
            "Answers by stated confidence",
            {
                "confidence": lambda one: f"{one.low:.1f} to {one.high:.1f}",
                "answers": ("n", count),
                "mean confidence": ("confidence", number_cell),
                "share right": lambda one: bounded(
                    one.accuracy, one.accuracy_low, one.accuracy_high
                ),
            },
            ((job, part) for job, one in found for part in one.bins),
        )
        if found:
            yield Details("The bins", list(bins))
        chosen = [(job, one) for job in group.by_budget for one in conformal_of(job)]
        # So few cases allow no threshold whatever was answered: one sentence, not a row an arm.
        few = dict.fromkeys((one.alpha, one.n, one.least) for _, one in chosen if one.n < one.least)
        if few:
            told = ", ".join(f"{alpha:g} ({least} needed, has {n})" for alpha, n, least in few)
            yield Text(
                "The half of the cases (clusters of cases) on which a confidence threshold is "
                "chosen is too small to keep the share decided wrongly, with any threshold, at "
                f"{told}."
            )
        yield from arms_table(
            group,
            "conformal-table",
            "Confidence below which to abstain, so that at most a share alpha of all cases is "
            "decided wrongly: chosen on half of the cases (of their clusters) by conformal risk "
            "control, and checked on the other half. The guarantee is an average over such "
            "halves, for a case exchangeable with them. It does not hold for this one threshold, "
            "or for the share wrong among the cases decided. Use it as reader.threshold",
            {
                "alpha": lambda one: f"{one.alpha:g}",
                "threshold": lambda one: (
                    one.method if isinf(one.threshold) else f"{one.threshold:.3f}"
                ),
                "chosen on": ("n", count),
                "decided": lambda one: interval_cell(one.committed),
                "decided and wrong": lambda one: interval_cell(one.wrong),
                "checked on": ("n_checked", count),
            },
            ((job, one) for job, one in chosen if one.n >= one.least),
        )

    def instead(self, evidence: Evidence) -> Iterator[Block]:
        """What stands for a calibration where answers were given, and none says how sure it is."""
        if any(row.success is not None for job in evidence.jobs for row in job.good):
            yield Heading(self.title, self.anchor)
            yield Text("No answer states a confidence, so there is no calibration to show.")
