"""Whether the rationale entails the inferences that lead to the decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored, maybe_await
from framework.records import AxisScore, Row
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER, own_words


@register("axis", "rcs")
class RCS(Axis[NoSettings]):
    """Reasoning coherence: share of the gold reasoning points entailed, according to the judge.

    rcs : share of the gold reasoning points that the rationale entails, in [0, 1], higher is
        better: (1/m) sum of E(rationale entails r_j) over the m points r_j (LongHorizon 3.3).
    rcs_corrected : rcs corrected for the judge's error on rationales of known truth: (rcs - wrong
        passed) / (right passed - wrong passed) (Rogan and Gladen 1978). None if the judge has no
        calibration of this kind.

    The judge sees the rationale and the points, never the arm. What the rationale copies from the
    view, sentence by sentence, is evidence and no reasoning, and is not shown. None without points
    or without a judge.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "rcs": HIGHER,
    }
    needs: ClassVar[tuple[str, ...]] = ("reasons",)
    judged: ClassVar[frozenset[str]] = frozenset(higher_is_better)
    corrected: ClassVar[Mapping[str, str]] = {"rcs_corrected": "rcs"}
    demands: ClassVar[Mapping[str, str]] = {"rcs": "entail"}

    @staticmethod
    def has_verdict(row: Row, column: str) -> bool:
        """The judge is asked about every point, whatever was decided."""
        return True

    async def score(self, scored: Scored) -> AxisScore:
        answer, points, judge = scored.answer, scored.case.gold.reasons, scored.judge
        if answer is None or judge is None or not points:
            return self.undefined()
        reasoned = own_words(answer.rationale, scored.view.text)
        verdicts = await maybe_await(judge.entail(reasoned, points, scored.client))
        met = {verdict.id: verdict for verdict in verdicts}
        evidence = tuple(
            f"{'entailed' if met[point.id].met else 'not entailed'}: {point.text}"
            + (f' ("{met[point.id].evidence}")' if met[point.id].evidence else "")
            for point in points
        )
        value = sum(met[point.id].met for point in points) / len(points)
        return AxisScore(values={"rcs": value}, evidence=evidence)
