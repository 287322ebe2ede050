"""Write a patch: change the files of a task so that what governs it is honoured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.hunks import Hunk, apply, as_edit


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePatchRequest:
    """The ticket, the files that may be changed (text by path), and the view of the record."""

    instruction: str
    ticket: str
    files: Mapping[str, str]
    view: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePatchResponse:
    """The hunks in order, none where nothing is changed, and what the change rests on."""

    edits: tuple[Hunk, ...]
    note: str


@register("operation", "write_patch")
class WritePatch(PromptedAnswering[WritePatchRequest, WritePatchResponse]):
    """Change files by search and replace, following what the record says."""

    response = WritePatchResponse
    slots = frozenset({"instruction", "record", "files", "ticket"})

    def request_of(self, task: TaskCard, view: str) -> WritePatchRequest:
        return WritePatchRequest(
            instruction=task.instruction, ticket=task.query, files=task.material, view=view
        )

    def answer_of(self, response: WritePatchResponse, task: TaskCard) -> Answer:
        return Answer(edit=as_edit(response.edits), rationale=response.note)

    def fill(self, request: WritePatchRequest) -> Mapping[str, str]:
        files = (
            f'<file path="{path}">\n{text}</file>' for path, text in sorted(request.files.items())
        )
        return {
            "instruction": request.instruction,
            "record": request.view,
            "files": "\n".join(files),
            "ticket": request.ticket,
        }

    def parse(self, text: str, request: WritePatchRequest) -> WritePatchResponse:
        found = super().parse(text, request)
        apply(found.edits, request.files)  # what can't be made is sent back to be mended
        return found
