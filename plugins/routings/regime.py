"""By regime: the most frequent one that a seam reaches (Regimes 3.3)."""

from __future__ import annotations

from framework.contracts import Diagnosis, Route, Routing
from framework.registry import NoSettings, register


@register("routing", "regime")
class ByRegime(Routing[NoSettings]):
    """The open regime with the most failures, at each of its seams in turn."""

    def choose(self, diagnosis: Diagnosis) -> Route | None:
        if not diagnosis.open:
            return None
        regime = diagnosis.open[0]
        seams = [s for s in diagnosis.taxonomy.seams_of(regime) if s in diagnosis.seams]
        turn = diagnosis.attempts.get(regime, 0) % len(seams)
        return Route(regime=regime, seams=(seams[turn],))
