"""Kinds and edges by the run's model."""

from __future__ import annotations

from collections.abc import Sequence

from framework.contracts import Client, Extractor
from framework.operations.extract_edges import ExtractEdges, ExtractEdgesResponse
from framework.records import Event
from framework.registry import register
from plugins.extractors._candidates import CandidateSettings, requests, with_links


@register("extractor", "model")
class ModelExtractor(Extractor[CandidateSettings]):
    """Kinds and edges by one call of the run's model per document, counted as cost of ingest.

    The model reads a document beside those that share its rarer words. A response that can't be
    read leaves its document without kind and edges. With the rule-based model it is `rules`.
    """

    needs_model = True

    async def extract(self, events: Sequence[Event], client: Client) -> Sequence[Event]:
        asked = requests(events, self.settings.candidates)
        responses: list[ExtractEdgesResponse | None] = []
        for one in asked:
            try:
                response = await client.ask(ExtractEdges(), one.request)
            except ValueError:  # what `Operation.parse` raises; a failed call is not caught here
                responses.append(None)
            else:
                responses.append(response)
        return with_links(events, asked, responses)
