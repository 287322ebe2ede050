"""Write a patch: change the files of a task so that what governs it is honoured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.hunks import Hunk, apply, as_edit, named_blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePatchResponse:
    """The hunks in order, none where nothing is changed, and what the change rests on."""

    edits: tuple[Hunk, ...]
    note: str


@register("operation", "write_patch")
class WritePatch(PromptedAnswering[WritePatchResponse]):
    """Change files by search and replace, as the records require."""

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
        """The files' form; where a search is an `enum`, it is the name of a block to replace."""
        schema: Any = super().schema(request)
        edit = schema["properties"]["edits"]["items"]
        if self._names_blocks():
            forms = []
            for path, text in sorted(request.task.material.items()):
                held = {"file": [path], "search": list(named_blocks(text))}
                names = {name: {"type": "string", "enum": values} for name, values in held.items()}
                if held["search"]:
                    forms.append({**edit, "properties": {**edit["properties"], **names}})
            schema["properties"]["edits"]["items"] = {"anyOf": forms}
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: AnswerRequest) -> WritePatchResponse:
        found, files = super().parse(text, request), request.task.material
        if self._names_blocks():
            found = replace(found, edits=tuple(_of_block(edit, files) for edit in found.edits))
        apply(found.edits, files)  # what can't be made is sent back to be mended
        return found

    def _names_blocks(self) -> bool:
        schema: Any = self.files.schema
        return "enum" in schema["properties"]["edits"]["items"]["properties"]["search"]


def _of_block(edit: Hunk, files: Mapping[str, str]) -> Hunk:
    """The edit of the whole block that its search names."""
    block = named_blocks(files.get(edit.file, "")).get(edit.search)
    if block is None:
        raise ValueError(f"search: no block of {edit.file!r} is named by {edit.search!r}")
    return replace(edit, search=block)
