"""What a list of runs shows of a sweep in few characters: who leads, by how much, how sure that is.

MLflow folds a sweep, and shows about 19 characters of its name and the metrics of its own run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.analysis.evidence import Group, higher_is_better, of_sweep
from framework.analysis.verdict import Difference, Leader, chief_axes, leaders
from framework.reporting.format import MARKS, short, short_limits
from framework.text.counting import counted

LONGEST_NAME: Final = 200
"""Characters of a sweep's name; a database keeps 250."""
_MOST_ARMS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """Who leads the verdict's last axis, and the narrowest lead over all budgets.

    leading : the budgets that each arm leads, by arm; an arm whose mean went through rules has
    the mark. best, other : the means of the narrowest lead's leader and of the arm it is compared
    with. lead : their difference; None where that comparison was not made. tied : the arms that
    have the same mean there, none where one leads. budget : where that is. all_compared : whether
    every budget's lead is a comparison, so that none is narrower.
    """

    axis: str
    leading: Mapping[str, Sequence[str]]
    n_budgets: int
    best: float
    lead: Difference | None
    other: float | None
    decided: bool
    tied: Sequence[str]
    budget: str
    all_compared: bool

    def numbers(self) -> dict[str, float | None]:
        """The means, and by how much the better one is better, with the 95% interval."""
        found: dict[str, float | None] = {"best": self.best}
        if self.lead is not None:
            bounds = [self.lead.low, self.lead.high]
            if higher_is_better(self.axis):
                found["lead"] = self.lead.delta
            else:
                found["lead"] = -self.lead.delta
                bounds = [None if bound is None else -bound for bound in reversed(bounds)]
            found["lead_at_least"], found["lead_at_most"] = bounds
            found["other"] = self.other
        return found

    def words(self) -> str:
        """`dpm† +.57 (.43–.70) or more vs bm25 in eda`."""
        if self.tied:
            where = f" at {self.budget}" if self.n_budgets > 1 else ""
            return f"{', '.join(self.tied)} tied{where} in {self.axis}"
        several = len(self.leading) > 1
        arms = ", ".join(
            f"{arm} at {' and '.join(budgets)}" if several else arm
            for arm, budgets in self.leading.items()
        )
        if self.lead is None:
            return f"{arms} lead{'s' * (len(self.leading) == 1)} in {self.axis}"
        sure = "" if self.decided else " undecided"
        more = " or more" if self.n_budgets > 1 and self.all_compared else ""
        return f"{arms}{sure} {_delta(self.lead)}{more} vs {self.lead.other} in {self.axis}"


def sweep_name(sweep: Mapping[str, Any]) -> str:
    """Who leads, by how much and how sure, then domains, arms and budgets.

    `dpm† +.57 (.43–.70) or more vs bm25 in eda; loan, 9 arms, moderate, loose`. Without one setting
    in which arms lead, the first arms are named: `loan: none, bm25, dpm and 6 more; tight`.
    """
    domains, arms, budgets = (
        list(dict.fromkeys(job.summary["run"][key] for job in of_sweep(sweep).jobs))
        for key in ("domain", "arch", "budget")
    )
    over = ", ".join(budgets)
    if (found := glance(sweep)) is not None:
        name = f"{found.words()}; {', '.join(domains)}, {counted(len(arms), 'arm')}, {over}"
    else:
        more = f" and {len(arms) - _MOST_ARMS} more" if len(arms) > _MOST_ARMS else ""
        name = f"{', '.join(domains)}: {', '.join(arms[:_MOST_ARMS])}{more}; {over}"
    return name[:LONGEST_NAME]


def glance(sweep: Mapping[str, Any]) -> Glance | None:
    """What stands first; None for several settings, for one arm, and where too many arms lead."""
    groups = of_sweep(sweep).over_seeds.groups
    if len(groups) != 1 or len(groups[0].arms) < 2 or not chief_axes(groups[0]):
        return None
    (group,) = groups
    axis = chief_axes(group)[-1]
    found = leaders(group, axis)
    leading: dict[str, list[str]] = {}
    for leader in found:
        for arm in _marked(leader):
            leading.setdefault(arm, []).append(leader.budget)
    if not found or len(leading) > _MOST_ARMS:
        return None
    leads = [(each, _nearest(group, each)) for each in found]
    leader, lead = min(leads, key=_width)
    tied = _marked(leader) if len(leader.arms) > 1 else []
    entry = None if lead is None else group.entry(lead.other, leader.budget, axis)
    return Glance(
        axis=axis,
        leading=leading,
        n_budgets=len(found),
        best=leader.mean,
        lead=None if tied else lead,
        other=None if entry is None else entry["mean"],
        decided=lead in leader.shown,
        tied=tied,
        budget=leader.budget,
        all_compared=all(each is not None for _, each in leads),
    )


def _marked(leader: Leader) -> list[str]:
    """The arms of the best mean, marked where it went through rules."""
    mark = MARKS.get(leader.kind, "")
    return [f"{arm}{mark}" for arm in leader.arms]


def _nearest(group: Group, leader: Leader) -> Difference | None:
    """The difference from the baseline, else from the arm that comes closest."""
    found = [*leader.shown, *leader.open]
    own = [each for each in found if each.other == group.baseline]
    return min(own or found, key=lambda each: abs(each.delta), default=None)


def _width(found: tuple[Leader, Difference | None]) -> float:
    """By how much an arm leads: nothing where arms tie, and last what was not compared."""
    leader, lead = found
    if len(leader.arms) > 1:
        return 0.0
    return float("inf") if lead is None else abs(lead.delta)


def _delta(lead: Difference) -> str:
    text = short(lead.delta, "+")
    if lead.low is None or lead.high is None:
        return text
    low, high = short_limits(lead.low, lead.high)
    return f"{text} ({low}{'–' if lead.low >= 0 else ' to '}{high})"
