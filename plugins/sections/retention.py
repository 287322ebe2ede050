"""What memory kept and what was made of it: P_ret, kappa, leak, and how the cases ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from framework.registry import register
from framework.reporting.blocks import Block, Cell, Text
from framework.reporting.cells import count, interval_cell
from framework.reporting.grouped import GroupedSection
from framework.reporting.tables import arms_table, means_table
from framework.statistics.intervals import Interval, mean_interval

if TYPE_CHECKING:
    from framework.analysis.evidence import Group, Job
    from framework.reporting.figures.style import Drawing
    from plugins.sections._outcomes import Outcomes

_RETENTION = (
    *("p_ret", "p_ret_read", "kappa", "leak", "right_undetermined"),
    *("p_ret_abstain", "kappa_abstain", "leak_abstain", "p_ret_all", "retained", "use_rate"),
)


@register("section", "retention")
class Retention(GroupedSection):
    """P_ret, kappa, leak, and how the cases ended."""

    place = 400
    title, anchor = "Retention and use", "retention"
    draws = ("budgets", "decomposition", "failures")

    def draw(self, name: str, group: Group) -> Drawing | None:
        from plugins.sections.figures import budgets, shares

        if name == "budgets":
            return budgets.budget_curve(group)
        return shares.decomposition(group) if name == "decomposition" else shares.failures(group)

    def tables(self, group: Group) -> Iterator[Block]:
        from framework.analysis.outcomes import PARTS
        from plugins.sections._outcomes import outcomes

        if not group.has("p_ret"):
            return
        axes = [axis for axis in _RETENTION if group.has(axis)]
        yield from means_table(group, "retention-table", "Retention and use", axes)
        if not group.has("p_ret_all"):
            yield Text(
                "This run was made before p_ret_all existed. Its p_ret is the share of views with "
                "every critical item, which later runs call p_ret_all. kappa and leak are split by "
                "it, include cases in which abstaining is right, and count success by default as "
                "use."
            )
        yield from arms_table(
            group,
            "kappa-common",
            "kappa on the cases that all arms retained, without arms that retained none at the "
            "budget. An arm's own kappa is over the cases it retained, which may be the easy ones",
            {
                "kappa": lambda pair: interval_cell(pair[0]),
                "n": lambda pair: count(pair[0].n),
                "retained itself": lambda pair: count(pair[1]),
            },
            _kept_by_all(group),
        )
        yield from arms_table(
            group,
            "failures-table",
            "Outcomes of the cases that have a decision: shares that sum to 1",
            {
                "success": lambda split: interval_cell(split.success),
                **{words: _share_of(name) for name, words in PARTS.items()},
                "n": lambda split: count(split.parts["failed"].n),
            },
            ((job, split) for job in group.by_budget if (split := outcomes(job)) is not None),
        )


def _share_of(part: str) -> Callable[[Outcomes], Cell]:
    return lambda split: interval_cell(split.parts[part])


def _kept_by_all(group: Group) -> Iterator[tuple[Job, tuple[Interval, int]]]:
    """Kappa on the cases that every arm retained: what arms differ in by use, and not by cases."""
    for budget in group.budgets:
        of = [
            (job, kept)
            for arm in group.arms
            if (job := group.job(arm, budget)) is not None
            and (kept := job.means.values.get((budget, arm), {}).get("kappa"))
        ]
        common = sorted(set.intersection(*(set(kept) for _, kept in of))) if len(of) > 1 else []
        for job, kept in of if common else ():
            found = mean_interval(
                [kept[case] for case in common],
                [job.means.clusters[case] for case in common],
                seed=int(job.summary["run"]["seed"]),
            )
            yield job, (found, len(kept))
