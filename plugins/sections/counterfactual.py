"""Whether decisions change with a protected attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.analysis.evidence import Evidence, Group, Job
from framework.contracts.section import AddFigure, Section, no_figure
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Heading, Table, Text
from framework.reporting.cells import bounded, count, delta
from framework.reporting.tables import arms_table


@register("section", "counterfactual_pairs")
class CounterfactualPairs(Section):
    """Decisions on pairs of cases that differ only in a protected attribute."""

    place, place_at_end = 860, 500

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        tables = [made for group in evidence.groups for made in _pairs(group)]
        if tables:
            yield Heading("Protected attributes", "counterfactual-pairs")
            yield Text(
                "The two cases of a counterfactual pair differ only in the attribute. Shown is the "
                "protected minus the reference group, with 95% limits, unadjusted. A difference "
                "comes from the arm or from chance; finding none does not prove fairness."
            )
            yield from tables

    def at_end(self, evidence: Evidence) -> Iterator[Block]:
        yield from self.blocks(evidence, no_figure)


def _pairs(group: Group) -> Iterator[Table]:
    return arms_table(
        group,
        "counterfactual-pairs-table",
        "Counterfactual pairs by arm and attribute",
        {
            "attribute": "attribute",
            "pairs": ("n", count),
            "decided in read forms": lambda entry: count(entry.get("n_decided", entry["n"])),
            "favourable": ("decisions", delta),
            "decided differently": ("decisions_changed", _mean),
            "other reasons": ("reasons_changed", _mean),
            "retained": ("retention", delta),
            "impact ratio": (
                "impact_ratio",
                lambda entry: _mean({"mean": entry["value"], **entry}),
            ),
            "adverse impact": "adverse_impact",
        },
        (
            (job, {"attribute": name.replace("_", " "), **entry})
            for job in group.jobs
            for name, entry in _attributes(job).items()
        ),
    )


def _attributes(job: Job) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Any] = (job.summary.get("counterfactual_pairs") or {}).get("attributes", {})
    return found


def _mean(entry: Mapping[str, Any]) -> Cell:
    return bounded(entry["mean"], entry["ci_low"], entry["ci_high"])
