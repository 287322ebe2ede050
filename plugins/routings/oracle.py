"""Oracle routing: a draft at every seam is measured, and the best goes on to the gates."""

from __future__ import annotations

from typing import ClassVar

from framework.contracts import Diagnosis, Route, Routing
from framework.registry import NoSettings, register


@register("routing", "oracle")
class Oracle(Routing[NoSettings]):
    """The upper limit of routing: drafts at every seam and takes the best one on OPTIMIZE.

    It costs a draft and a measurement at every seam, each of which counts as a candidate.
    """

    probes: ClassVar[bool] = True

    def choose(self, diagnosis: Diagnosis) -> Route | None:
        return Route(regime="", seams=diagnosis.seams) if diagnosis.open else None
