"""Write a document of a case from what it says: the question that a language model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from framework.operations.prompted import PromptedOperation
from plugins.domains.regulated.written import Template, tidy


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """A document to be written, and what was wrong with the text that was given before."""

    template: Template
    faults: tuple[str, ...] = ()


class WriteDocument(PromptedOperation[WriteRequest, str]):
    """The body of a document, in prose, from the sentences of its template.

    It is not registered: no run asks it, and a registered operation's prompts are part of the
    identity of every run of its package.
    """

    name: ClassVar[str] = "write_document"
    prompts: ClassVar[Path] = Path(__file__).parent / "prompts"
    slots = frozenset({"title", "kind", "author", "day", "notes", "faults"})

    def fill(self, request: WriteRequest) -> Mapping[str, str]:
        one = request.template
        notes = [
            f"- EXACT: {said}" if said in one.verbatim else f"- {said}" for said in one.sentences
        ]
        wrong = [f"- {fault}" for fault in request.faults]
        return {
            "title": one.title,
            "kind": one.kind,
            "author": one.author,
            "day": one.day,
            "notes": "\n".join(notes),
            "faults": "\n".join(["\nWrong with the last text:", *wrong, ""]) if wrong else "",
        }

    def parse(self, text: str, request: WriteRequest) -> str:
        body = tidy(text)
        if not body:
            raise ValueError("an empty text")
        return body

    def render(self, response: str) -> str:
        return response
