"""Kinds and edges by fixed cues."""

from __future__ import annotations

from collections.abc import Sequence

from framework.contracts import Client, Extractor, answer_by_rule
from framework.operations.extract_edges import ExtractEdges
from framework.records import Event
from framework.registry import register
from plugins.extractors._candidates import CandidateSettings, requests, with_links


@register("extractor", "rules")
class RulesExtractor(Extractor[CandidateSettings]):
    """Kinds and edges by the rules for `extract_edges`, whatever model the run has.

    The rules know wordings that were written down beforehand and read no others; they ask no model,
    so that what an arm finds over their edges is model-free.
    """

    def extract(self, events: Sequence[Event], client: Client) -> Sequence[Event]:
        asked = requests(events, self.settings.candidates)
        read = (answer_by_rule(ExtractEdges(), one.request) for one in asked)
        return with_links(events, asked, read)
