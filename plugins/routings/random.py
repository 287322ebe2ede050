"""Random routing: a seam drawn by the seed, whatever the failures say."""

from __future__ import annotations

from random import Random

from framework.contracts import Diagnosis, Route, Routing
from framework.registry import NoSettings, register


@register("routing", "random")
class AtRandom(Routing[NoSettings]):
    """Control: an open regime and a seam, each chosen at random, so that they seldom match."""

    def choose(self, diagnosis: Diagnosis) -> Route | None:
        if not diagnosis.open:
            return None
        draw = Random(f"routing:{diagnosis.seed}:{diagnosis.attempt}")
        return Route(regime=draw.choice(diagnosis.open), seams=(draw.choice(diagnosis.seams),))
