"""Kinds and edges by fixed cues."""

from __future__ import annotations

from collections.abc import Sequence

from framework.contracts import Client, Extractor, Profile
from framework.operations.extract_edges import ExtractEdges
from framework.records import Event
from framework.registry import register
from plugins.extractors._candidates import CandidateSettings, requests, with_links


@register("extractor", "rules")
class RulesExtractor(Extractor[CandidateSettings]):
    """Kinds and edges by the rules of `ExtractEdges`, whatever model the run has.

    The rules know wordings that were written down beforehand and read no others; they ask no model,
    so that what an arm finds over their edges is a finding.
    """

    Settings = CandidateSettings

    def extract(self, events: Sequence[Event], client: Client) -> Sequence[Event]:
        asked = requests(events, self.settings.candidates)
        rules, profile = ExtractEdges(), Profile()
        return with_links(events, asked, (rules.offline(one.request, profile) for one in asked))
