"""What the reader makes of a view with the gold put in, and with it taken out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import ABSTAIN, AxisScore, Row
from framework.registry import NoSettings, register
from plugins.protocols.intervene.views import INSERTED, REMOVED


@register("axis", "intervention")
class Intervention(Axis[NoSettings]):
    """Causal use of the gold: Depth's kappa and lambda under intervention (decisions/0020).

    kappa and leak are over the cases that a memory retained and over the others, which the memory
    itself chose. These columns are over all cases that have a decision to make. A case is *used*
    as for kappa: right, and not by the declared default or a forced choice. Where a judge says what
    is right, it is asked about the answers from both views too.

    kappa_inserted : used (0 or 1) with all required gold put into the view. Higher is better.
    leak_removed : used (0 or 1) with the gold taken out of the view. No better direction.
    use_effect : kappa_inserted minus leak_removed, in [-1, 1]: what the gold in view is worth to
        this reader, among everything else that this memory shows. Higher is better.
    decided_inserted : 1 if the answer from the view with the gold put in decided, 0 if it
        abstained, fell back on the default or guessed. No better direction.
    decided_removed : 1 if the answer from the view with the gold taken out decided, 0 if it
        abstained, fell back on the default or guessed. No better direction.
    kappa_inserted_corrected, leak_removed_corrected, use_effect_corrected : the column without
        `_corrected`, corrected for the judge's error on answers of known truth, where a judge says
        what is right.
    intervened : 1 if both views could be made, 0 if not: the budget had no room for the gold, or no
        text states an item. The columns above are None then. No better direction.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "kappa_inserted": True,
        "leak_removed": None,
        "use_effect": True,
        "decided_inserted": None,
        "decided_removed": None,
        "intervened": None,
    }
    of_success: ClassVar[frozenset[str]] = frozenset(
        {"kappa_inserted", "leak_removed", "use_effect"}
    )
    signed: ClassVar[frozenset[str]] = frozenset({"use_effect"})
    corrected: ClassVar[Mapping[str, str]] = {f"{name}_corrected": name for name in of_success}
    differences: ClassVar[Mapping[str, tuple[str, str]]] = {
        "use_effect": ("kappa_inserted", "leak_removed")
    }

    @staticmethod
    def has_verdict(row: Row, column: str) -> bool | None:
        """Whether the answer from that view decided: what did not is no use, whatever is right."""
        decided = row.axes.get(f"decided_{column.partition('_')[2]}")
        return None if decided is None else decided == 1

    def score(self, scored: Scored) -> AxisScore:
        gold = scored.case.gold
        if scored.answer is None or not gold.required or gold.decision == ABSTAIN:
            return self.undefined()
        if not scored.others:
            return AxisScore(values={**dict.fromkeys(self.names), "intervened": 0.0})
        put_in, taken_out = (_used(scored.others[name]) for name in (INSERTED, REMOVED))
        return AxisScore(
            values={
                "kappa_inserted": put_in,
                "leak_removed": taken_out,
                "use_effect": put_in - taken_out,
                "decided_inserted": _decided(scored.others[INSERTED]),
                "decided_removed": _decided(scored.others[REMOVED]),
                "intervened": 1.0,
            },
            evidence=tuple(
                f"gold {name}: {other.answer.decision or other.answer.text[:80] or 'no answer'}: "
                f"{'right' if other.succeeded else 'wrong'}"
                for name, other in scored.others.items()
                if other.answer is not None
            ),
        )


def _used(scored: Scored) -> float:
    return float(scored.succeeded and _decided(scored))


def _decided(scored: Scored) -> float:
    answer = scored.answer
    assert answer is not None  # a case whose answer can't be read has no axes of answers
    return float(answer.decision != ABSTAIN and not answer.defaulted)
