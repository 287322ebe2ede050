"""What executing the answer shows: does it honour the decision that governs it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER, LOWER


@register("axis", "compliance")
class Compliance(Axis[NoSettings]):
    """The checks that the domain executes on the answer, all in one call (Depth 5.2, 7).

    Each value is 0 or 1, None where the domain has no such check or it does not apply. Of a domain
    without checks, compliance is success.

    compliance : 1 if the invariant of the governing decision holds. Higher is better.
    merge_ready : 1 if this invariant holds and the answer does everything else that the task asks
        for. Higher is better.
    asserted_only : 1 if the answer claims to follow the decision (in a comment, a note, a guard
        that never runs) and does not enforce it. Lower is better.
    kappa_ratio : compliance over recall (Depth, section 7). It also counts compliance by luck, so
        it can exceed 1, which `kappa` can't.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "compliance": HIGHER,
        "merge_ready": HIGHER,
        "asserted_only": LOWER,
    }
    needs: ClassVar[tuple[str, ...]] = ("edit",)
    ratios: ClassVar[Mapping[str, tuple[str, str]]] = {"kappa_ratio": ("compliance", "recall")}

    def score(self, scored: Scored) -> AxisScore:
        if scored.answer is None:
            return self.undefined()
        found = scored.domain.checks(scored.answer, scored.case)
        if not found:
            found = {"compliance": scored.domain.success(scored.answer, scored.case.gold)}
        shown = {name: found.get(name) for name in self.names}
        return AxisScore(
            values={name: None if held is None else float(held) for name, held in shown.items()},
            evidence=tuple(
                f"{name}: {_word(held)}" for name, held in shown.items() if held is not None
            ),
        )


def _word(held: bool) -> str:
    return "yes" if held else "no"
