"""Typed routing with the routes swapped."""

from __future__ import annotations

from framework.registry import register
from plugins.archs._routed import Routed, RoutedSettings


@register("arch", "misrouted")
class Misrouted(Routed):
    """Typed routing with the routes swapped: facts are summarized, reasoning is retrieved.

    The ablation of LongHorizon 5: does the typing of content carry the result, or the mechanism?
    """

    stored = "reasoning"
    Settings = RoutedSettings
