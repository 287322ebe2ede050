"""Answers that are watched over a session: what any of them did, not the last alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from framework.records import Answer, Case


@runtime_checkable
class Watched(Protocol):
    """A domain that tells something of every answer of a session."""

    def watched(self, case: Case, answer: Answer) -> Mapping[str, float]:
        """By name, what an answer did, from 0 to 1; a session's figure is the most of its answers.

        A name is not one of the session's own figures (`session_outcome`).
        """
        ...
