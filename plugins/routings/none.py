"""No routing: the author gets any failures, and chooses the seam itself (Regimes, threat 11)."""

from __future__ import annotations

from framework.contracts import Diagnosis, Route, Routing
from framework.registry import NoSettings, register


@register("routing", "none")
class Unrouted(Routing[NoSettings]):
    """Control: shows failures without labels and allows every seam. The gates stay the same."""

    def choose(self, diagnosis: Diagnosis) -> Route | None:
        return Route(regime="", seams=diagnosis.seams) if diagnosis.open else None
