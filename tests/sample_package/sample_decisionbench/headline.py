"""An operation: one sentence that says what a document says."""

from __future__ import annotations

from dataclasses import dataclass

from framework.contracts import Operation, Profile, Prompt
from framework.registry import register
from framework.sentences import sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineRequest:
    """The document's text."""

    text: str


@register("operation", "sample_headline")
class Headline(Operation[HeadlineRequest, str]):
    """One sentence for a document; by rule, its last sentence with a digit, else its last."""

    def prompt(self, request: HeadlineRequest) -> Prompt:
        return Prompt(
            system="Answer with one sentence and nothing else.",
            user=f"Say what matters most in this document.\n\n{request.text}",
        )

    def parse(self, text: str, request: HeadlineRequest) -> str:
        if not text.strip():
            raise ValueError("an empty headline")
        return text.strip()

    def offline(self, request: HeadlineRequest, profile: Profile) -> str:
        found = sentences(request.text)
        figures = [sentence for sentence in found if any(c.isdigit() for c in sentence)]
        return (figures or found)[-1]
