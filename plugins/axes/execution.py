"""Whether the query that answers a question gives the right rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER


@register("axis", "execution")
class Execution(Axis[NoSettings]):
    """Results of executing the answer's query, as the domain checks it (`Domain.checks`).

    Each value is 0 or 1, higher is better; None for a domain that executes no queries.

    execution_correct : 1 if the query returns the rows of the reference query (execution accuracy;
        Yu et al., Spider, EMNLP 2018; Li et al., BIRD, NeurIPS 2023).
    execution_with_notes : execution_correct over the questions that need what memory holds; None
        for the others, on which an empty memory does as well as any.
    executes : 1 if the query runs within its limits, right or wrong.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "execution_correct": HIGHER,
        "execution_with_notes": HIGHER,
        "executes": HIGHER,
    }
    needs: ClassVar[tuple[str, ...]] = ("query",)

    def score(self, scored: Scored) -> AxisScore:
        if scored.answer is None:
            return self.undefined()
        found = scored.domain.checks(scored.answer, scored.case)
        values = {
            name: None if (held := found.get(name)) is None else float(held) for name in self.names
        }
        if scored.case.gold.items:
            values["execution_with_notes"] = values["execution_correct"]
        evidence = (f"query: {scored.answer.text}", f"reference: {scored.case.gold.answer}")
        return AxisScore(values=values, evidence=evidence if values["executes"] is not None else ())
