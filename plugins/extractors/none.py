"""No extraction."""

from __future__ import annotations

from collections.abc import Sequence

from framework.contracts import Client, Extractor
from framework.records import Event
from framework.registry import NoSettings, register


@register("extractor", "none")
class NoExtractor(Extractor[NoSettings]):
    """No extraction: arms get kinds and edges as the domain provides them."""

    extracts = False
    default = True

    def extract(self, events: Sequence[Event], client: Client) -> Sequence[Event]:
        return events
