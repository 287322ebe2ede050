"""An operation of our own: one sentence that says what a document says.

Its prompt files are ours too, and so is the rule by which a rule-based model answers it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from framework.contracts import Profile, Rule
from framework.operations.prompted import PromptedOperation
from framework.registry import register
from framework.text.sentences import sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineRequest:
    """The document's text."""

    text: str


@register("operation", "sample_headline")
class Headline(PromptedOperation[HeadlineRequest, str]):
    """One sentence for a document."""

    prompts = Path(__file__).parent / "prompts"
    slots = frozenset({"document"})

    def fill(self, request: HeadlineRequest) -> Mapping[str, str]:
        return {"document": request.text}

    def parse(self, text: str, request: HeadlineRequest) -> str:
        if not text.strip():
            raise ValueError("an empty headline")
        return text.strip()


@register("rule", "sample_headline")
class HeadlineRule(Rule[HeadlineRequest, str]):
    """A document's last sentence with a digit, else its last."""

    def answer(self, request: HeadlineRequest, profile: Profile) -> str:
        found = sentences(request.text)
        figures = [sentence for sentence in found if any(c.isdigit() for c in sentence)]
        return (figures or found)[-1]
