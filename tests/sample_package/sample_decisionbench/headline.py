"""An operation with prompt files of its own: one sentence that says what a document says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from framework.contracts import Profile
from framework.operations.prompted import PromptedOperation
from framework.registry import register
from framework.text.sentences import sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineRequest:
    """The document's text."""

    text: str


@register("operation", "sample_headline")
class Headline(PromptedOperation[HeadlineRequest, str]):
    """One sentence for a document; by rule, its last sentence with a digit, else its last."""

    prompts = Path(__file__).parent / "prompts"
    slots = frozenset({"document"})

    def fill(self, request: HeadlineRequest) -> Mapping[str, str]:
        return {"document": request.text}

    def parse(self, text: str, request: HeadlineRequest) -> str:
        if not text.strip():
            raise ValueError("an empty headline")
        return text.strip()

    def offline(self, request: HeadlineRequest, profile: Profile) -> str:
        found = sentences(request.text)
        figures = [sentence for sentence in found if any(c.isdigit() for c in sentence)]
        return (figures or found)[-1]
