"""Write a patch: change the files of a task so that what governs it is honoured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from framework.contracts import Profile
from framework.operations import _json
from framework.operations.answering import AnsweringOperation
from framework.operations.patching.choosing import commented, in_record
from framework.operations.patching.edits import edited
from framework.operations.patching.hunks import Hunk, apply, as_edit, hunks_between, hunks_of
from framework.operations.patching.rules import Rule
from framework.operations.prompted import PromptedOperation
from framework.operations.reading.noise import mishap
from framework.records import Answer, TaskCard
from framework.registry import register
from framework.text.canonical import canonical_json
from framework.text.sentences import sentences

__all__ = ["WritePatch", "WritePatchRequest", "WritePatchResponse"]

_NAMED: Final = re.compile(r"`(\w+)`")


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
class WritePatch(
    PromptedOperation[WritePatchRequest, WritePatchResponse],
    AnsweringOperation[WritePatchRequest, WritePatchResponse],
):
    """Change files by search and replace, following what the record says.

    The rule-based answer reads rules by a closed grammar (`patching.rules`), from comments above
    the function that the ticket names or else from the view, takes the first that applies to it,
    and makes it true by one general edit (`patching.edits`). It knows no decision and no task, and
    changes nothing where it finds no rule. Its answer's edit is the patch as canonical JSON.
    """

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
        data = self.json_object(text)
        _json.expect_keys(data, ("edits", "note"))
        edits = hunks_of(canonical_json({"edits": data["edits"]}))
        apply(edits, request.files)  # what can't be made is sent back to be mended
        return WritePatchResponse(edits=edits, note=_json.text(data, "note"))

    def offline(self, request: WritePatchRequest, profile: Profile) -> WritePatchResponse:
        for file, function in _targets(request):
            for rule in _rules(request, file, function, profile):
                old = request.files[file]
                new = edited(rule, file, function, request.files)
                if new is not None and new != old:
                    return WritePatchResponse(
                        edits=hunks_between(file, old, new), note=rule.sentence
                    )
        return WritePatchResponse(edits=(), note="")


def _targets(request: WritePatchRequest) -> Iterator[tuple[str, str]]:
    """The functions that the ticket names, with their files."""
    for name in dict.fromkeys(_NAMED.findall(request.ticket)):
        for file, text in sorted(request.files.items()):
            if re.search(rf"^def {name}\(", text, re.MULTILINE):
                yield file, name


def _rules(
    request: WritePatchRequest, file: str, function: str, profile: Profile
) -> Iterator[Rule]:
    """The rules that may govern a function, the likeliest first."""
    missed = [s for s in sentences(request.view) if mishap(s, profile) == "miss"]
    yield from commented(request.files[file], function)
    yield from (found.rule for found in in_record(request.view, request.ticket, missed))
