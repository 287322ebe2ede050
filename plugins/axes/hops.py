"""What the view holds of a decision's documents, by how far they lie from the one asked of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Protocol, runtime_checkable

from framework.contracts import Axis, Scored
from framework.records import AxisScore, Case
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER

_MOST: Final = 3


@runtime_checkable
class Stepped(Protocol):
    """A domain that knows how far its gold lies from what is asked of."""

    def hops_of(self, case: Case) -> Mapping[str, int]:
        """By gold item, its edges from the event asked of, at least 1."""
        ...


@register("axis", "hops")
class Hops(Axis[NoSettings]):
    """Recall of gold items one, two, and three or more edges from the entry event.

    Model-free, in [0, 1], higher is better. `recall` of the axis `chain` pools them, so that an arm
    that finds the neighbours alone looks as good as one that follows a chain.

    recall_hop_1 : share of the gold items one edge away that are in the view; None if the case has
        none.
    recall_hop_2 : share of the gold items two edges away that are in the view; None if the case has
        none.
    recall_hop_3_up : share of the gold items three or more edges away that are in the view; None if
        the case has none.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "recall_hop_1": HIGHER,
        "recall_hop_2": HIGHER,
        "recall_hop_3_up": HIGHER,
    }
    needs: ClassVar[tuple[str, ...]] = ("hops",)
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)

    def score(self, scored: Scored) -> AxisScore:
        if not isinstance(scored.domain, Stepped):
            return self.undefined()
        kept: dict[int, list[bool]] = {}
        hops = scored.domain.hops_of(scored.case)
        for item, hop in hops.items():
            kept.setdefault(min(hop, _MOST), []).append(scored.retained[item])
        shares = {hop: sum(found) / len(found) for hop, found in kept.items()}
        return AxisScore(
            values={
                name: shares.get(hop) for hop, name in enumerate(self.higher_is_better, start=1)
            },
            evidence=tuple(
                f"{item}, {hop} away: {'' if scored.retained[item] else 'not '}in the view"
                for item, hop in hops.items()
            ),
        )
