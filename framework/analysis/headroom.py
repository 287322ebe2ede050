"""How many cases can tell arms apart: those in which the compared arms do not all come out alike.

Where every arm fails, or every arm succeeds, a case says nothing of which is better, and neither do
more of its kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from framework.analysis.forms import poolable
from framework.analysis.summary import SETTING
from framework.records import Row


def telling_cases(
    summaries: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[Row]]
) -> list[dict[str, Any]]:
    """By setting, budget and outcome (`success`, `sufficient`): {cases, of, arms}.

    `of` are the cases in which all arms have the outcome, `cases` those in which it is not the same
    for all. Arms that need no budget, see the gold or show nothing are controls, and left out:
    beside them nearly every case would tell. Nothing for fewer than two arms.
    """
    groups: dict[tuple[Any, ...], dict[str, Sequence[Row]]] = defaultdict(dict)
    for summary, own in zip(summaries, rows, strict=True):
        run, use = summary["run"], summary["budget_use"]
        control = use.get("unbudgeted") or use.get("sees_gold")
        if not control and use.get("mean_view_tokens"):
            place = tuple((key, run[key]) for key in (*SETTING, "budget"))
            groups[place][run["arch"]] = own
    found = []
    for place, arms in groups.items():
        for outcome in ("success", "sufficient"):
            values = [dict(_by_case(own, outcome)) for own in arms.values()]
            shared = set.intersection(*map(set, values))
            if len(arms) > 1 and shared:
                told = sum(len({one[case] for one in values}) > 1 for case in shared)
                entry = {"outcome": outcome, "cases": told, "of": len(shared), "arms": len(arms)}
                found.append({**dict(place), **entry})
    return found


def _by_case(rows: Sequence[Row], outcome: str) -> Iterator[tuple[str, float]]:
    by_case: dict[str, list[float]] = defaultdict(list)
    for row in poolable(rows):
        value = getattr(row, outcome)
        if not row.error and value is not None:
            by_case[row.case_id].append(float(value))
    return ((case, fmean(values)) for case, values in by_case.items())
