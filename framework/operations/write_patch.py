"""Write a patch: change the files of a task so that what governs it is honoured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.hunks import Hunk, apply, as_edit


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePatchResponse:
    """The hunks in order, none where nothing is changed, and what the change rests on."""

    edits: tuple[Hunk, ...]
    note: str


@register("operation", "write_patch")
class WritePatch(PromptedAnswering[WritePatchResponse]):
    """Change files by search and replace, following what the record says."""

    response = WritePatchResponse
    slots = frozenset({"instruction", "record", "files", "ticket"})

    def answer_of(self, response: WritePatchResponse, task: TaskCard) -> Answer:
        return Answer(edit=as_edit(response.edits), rationale=response.note)

    def fill(self, request: AnswerRequest) -> Mapping[str, str]:
        given = sorted(request.task.material.items())
        files = (f'<file path="{path}">\n{text}</file>' for path, text in given)
        return {
            "instruction": request.task.instruction,
            "record": request.view,
            "files": "\n".join(files),
            "ticket": request.task.query,
        }

    def schema(self, request: AnswerRequest) -> Mapping[str, Any] | None:
        """The files' form; an `enum` of searches becomes the lines that a file has just once."""
        schema: Any = super().schema(request)
        edits = schema["properties"]["edits"]
        own = edits["items"]["properties"]
        if "enum" in own["search"]:
            forms = []
            for path, text in sorted(request.task.material.items()):
                once = [line for line in text.splitlines() if line and text.count(line) == 1]
                texts = {"file": [path], "search": once}
                held = {name: {"type": "string", "enum": values} for name, values in texts.items()}
                forms += [{**edits["items"], "properties": {**own, **held}}] if once else []
            edits["items"] = {"anyOf": forms}
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: AnswerRequest) -> WritePatchResponse:
        found = super().parse(text, request)
        found = replace(found, edits=tuple(dict.fromkeys(found.edits)))
        apply(found.edits, request.task.material)  # what can't be made is sent back to be mended
        return found
