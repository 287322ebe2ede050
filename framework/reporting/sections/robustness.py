"""What results withstand: other models, a published convention, protected attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.analysis.evidence import Evidence, Group, Job
from framework.reporting.blocks import Block, Cell, Heading, Table, Text
from framework.reporting.cells import bounded, count, delta, number_cell, p_cell
from framework.reporting.tables import arms_table, long_table, table


def agreement(evidence: Evidence) -> Iterator[Block]:
    """Which orders of arms survive every model of the sweep."""
    found = evidence.sweep.get("reader_agreement") or []
    if not found:
        return
    yield Heading("Orders that survive all models", "models")
    yield Text(
        "An order of arms is worth stating only if its order survives every reader. Ordered: "
        "pairs of arms to which every model gives different means; surviving: those that all of "
        "them order alike, the higher first."
    )
    yield table(
        "models-table",
        f"Models: {', '.join(found[0]['models'])}.",
        {
            "axis": "axis",
            "budget": "budget",
            "ordered": ("ordered_pairs", count),
            "surviving": ("surviving", lambda pairs: count(len(pairs))),
            "which": ("surviving", lambda pairs: ", ".join(f"{a} > {b}" for a, b in pairs)),
        },
        found,
    )
    if pairs := evidence.sweep.get("model_agreement"):
        yield table(
            "models-pairs",
            "Means of the arms under one model beside those under another.",
            {
                "axis": "axis",
                "budget": "budget",
                "models": lambda pair: f"{pair['model_a']}, {pair['model_b']}",
                "arms": ("n", count),
                "Pearson": ("pearson", number_cell),
                "Spearman": ("spearman", number_cell),
                "Kendall tau": ("kendall", number_cell),
                "mean |difference|": ("mean_difference", number_cell),
                "largest": ("largest_difference", number_cell),
                "of arm": "largest_arm",
                "same order": ("same_order", count),
                "pairs told apart": ("pairs", count),
            },
            pairs,
        )


def published(evidence: Evidence) -> Iterator[Block]:
    """The same pairs in a published convention, where one was asked for: to reproduce only."""
    found = evidence.sweep.get("published_convention")
    if not found:
        return
    pairs = table(
        "published-table",
        f"The same pairs in the convention of {found['convention']}, to reproduce, not to "
        "conclude: a case at each budget is a unit of its own, graded values succeed from .5 up, p "
        "is count / N of one shared generator, nothing adjusted",
        {
            "pair": lambda row: f"{row['arm_a']} − {row['arm_b']}",
            "axis": "axis",
            "mean of first": ("mean_a", number_cell),
            "of second": ("mean_b", number_cell),
            "difference": lambda row: bounded(row["delta"], row["low"], row["high"], sign="+"),
            "p": ("permutation_p", p_cell),
            "McNemar p": ("mcnemar_p", p_cell),
            "h": ("cohens_h", number_cell),
            "n": ("n", count),
        },
        found["comparisons"],
    )
    yield from long_table(pairs, name="published pairs")


def counterfactual_pairs(evidence: Evidence) -> Iterator[Block]:
    """How the cases of a pair, which differ in a protected attribute alone, were decided."""
    tables = [made for group in evidence.groups for made in _pairs(group)]
    if tables:
        yield Heading("Protected attributes", "counterfactual-pairs")
        yield Text(
            "The cases of a counterfactual pair differ in the attribute alone: protected minus "
            "reference group, with 95% limits, unadjusted. A difference is the arm's or chance; "
            "none found is not fairness."
        )
        yield from tables


def _pairs(group: Group) -> Iterator[Table]:
    return arms_table(
        group,
        "counterfactual-pairs-table",
        "Counterfactual pairs by arm and attribute",
        {
            "attribute": "attribute",
            "pairs": ("n", count),
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
