"""What of a view, and of what it retained, can't be traced to an event: the gist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register


@register("axis", "traced")
class Traced(Axis[NoSettings]):
    """The part of a view that can't be traced to the events it came from.

    A memory that rewrites what it was told gives texts without a source. Retention counts what
    they still say; these columns say how much of it rests on them.

    gist : share of the view's tokens in items that name no source event; None for an empty view.
    kept_as_gist : share of the retained gold items that can't be traced to any item of the view;
        None if nothing with a source was retained.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"gist": None, "kept_as_gist": None}
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)

    def score(self, scored: Scored) -> AxisScore:
        placed = [entry for entry in scored.view.trace if entry.tokens_kept]
        tokens = sum(entry.tokens_kept for entry in placed)
        untraced = sum(entry.tokens_kept for entry in placed if not entry.source_ids)
        sources = {source for entry in placed for source in entry.source_ids}
        kept = [
            item
            for item in scored.case.gold.items
            if item.source_ids and scored.retained.get(item.id, False)
        ]
        by_gist = [item.id for item in kept if sources.isdisjoint(item.source_ids)]
        return AxisScore(
            values={
                "gist": untraced / tokens if tokens else None,
                "kept_as_gist": len(by_gist) / len(kept) if kept else None,
            },
            evidence=tuple(f"{name}: kept, from no event that is named" for name in by_gist),
        )
