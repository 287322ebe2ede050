"""Where the decision that governs a task lies, as measured on the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register


@register("axis", "geometry")
class Geometry(Axis[NoSettings]):
    """Covariates of a case, measured by its domain; the same for every arm (Depth table 3).

    None where the domain does not know. Neither direction is better.

    depth : number of links between the entry and the governing event.
    achieved_rho : share of the similarity to the task that each link keeps.
    entry_similarity : similarity of the task to the first event of the chain.
    governing_similarity : similarity of the task to the last event of the chain.
    scatter : number of events over which the governing decision is spread.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "depth": None,
        "achieved_rho": None,
        "entry_similarity": None,
        "governing_similarity": None,
        "scatter": None,
    }
    needs: ClassVar[tuple[str, ...]] = ("geometry",)
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)
    amounts: ClassVar[frozenset[str]] = frozenset({"depth", "scatter"})

    def score(self, scored: Scored) -> AxisScore:
        found = scored.domain.geometry(scored.case)
        return AxisScore(values={name: found.get(name) for name in self.names})
