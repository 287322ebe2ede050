"""Extractors: the kinds of a history's events and the edges between them, from their text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Sequence
from typing import ClassVar

from framework.contracts.configured import Configured, S
from framework.contracts.model import Client
from framework.records import Event


class Extractor(Configured[S], group="extractor"):
    """Reads a typed graph from raw text. One instance serves a whole run.

    The pipeline runs it before an arm that declares `uses_extractor` takes the history in, and
    compares what it found with what the domain knows (`framework.pipeline.extraction`); its calls
    are booked on ingest.

    extracts : False for an extractor that leaves events as they are: a domain's own kinds and edges
        then reach the arm as it declares.
    needs_model : it may ask `client`.
    default : whether a configuration that names no extractor has this one; labels leave it out.
    """

    extracts: ClassVar[bool] = True
    needs_model: ClassVar[bool] = False
    default: ClassVar[bool] = False

    @abstractmethod
    def extract(
        self, events: Sequence[Event], client: Client
    ) -> Awaitable[Sequence[Event]] | Sequence[Event]:
        """The same events in the same order, with `kind` and `edges` as read from their texts.

        events : id, text and time alone; kind, metadata and edges are hidden.
        Id, text and time must come back unchanged, and an edge must lead to an event that is there.
        """
