"""No routing: the author gets any failures, and chooses the seam itself (Regimes, threat 11)."""

from __future__ import annotations

from framework.contracts import Diagnosis, Route, Routing
from framework.registry import NoSettings, register


@register("routing", "none")
class Unrouted(Routing[NoSettings]):
    """The control: failures without labels, every seam allowed. The gates stay as they are."""

    def choose(self, diagnosis: Diagnosis) -> Route | None:
        return Route(regime="", seams=diagnosis.seams) if diagnosis.open else None
