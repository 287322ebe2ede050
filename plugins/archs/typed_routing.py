"""Facts to a store, reasoning to a summary."""

from __future__ import annotations

from framework.registry import register
from plugins.archs._routed import Routed, RoutedSettings


@register("arch", "typed_routing")
class TypedRouting(Routed):
    """Facts go to an append-only store, reasoning to a running summary (LongHorizon 5).

    A regex classifier decides event by event. Recalled are the reasoning summary and the top-k
    facts, or the full fact store (`store: full`, LongHorizon 6.1). How events were routed is in the
    report of each history.
    """

    stored = "fact"
    Settings = RoutedSettings
