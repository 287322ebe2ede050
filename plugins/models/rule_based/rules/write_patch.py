"""How a patch is written: a rule of the record made true of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from framework.contracts import Profile, Rule
from framework.operations.answering import AnswerRequest
from framework.operations.write_patch import WritePatchResponse
from framework.registry import register
from framework.text.sentences import sentences
from plugins.models.rule_based.noise import is_missed
from plugins.models.rule_based.patching.between import hunks_between
from plugins.models.rule_based.patching.choosing import commented, in_record
from plugins.models.rule_based.patching.edits import edited
from plugins.models.rule_based.patching.rules import CodeRule

_NAMED: Final = re.compile(r"`(\w+)`")


@register("rule", "write_patch")
class WritePatchRule(Rule[AnswerRequest, WritePatchResponse]):
    """The first applicable rule, enforced in the function that the ticket names.

    Rules are read by a closed grammar (`patching.rules`), from comments above the function or
    else from the view; each is made true by one general edit (`patching.edits`). It knows no
    decision and no task, and changes nothing where it finds no rule.
    """

    def answer(self, request: AnswerRequest, profile: Profile) -> WritePatchResponse:
        for file, function in _targets(request):
            for rule in _rules(request, file, function, profile):
                old = request.task.material[file]
                new = edited(rule, file, function, request.task.material)
                if new is not None and new != old:
                    return WritePatchResponse(
                        edits=hunks_between(file, old, new), note=rule.sentence
                    )
        return WritePatchResponse(edits=(), note="")


def _targets(request: AnswerRequest) -> Iterator[tuple[str, str]]:
    """The functions that the ticket names, with their files."""
    for name in dict.fromkeys(_NAMED.findall(request.task.query)):
        for file, text in sorted(request.task.material.items()):
            if re.search(rf"^def {name}\(", text, re.MULTILINE):
                yield file, name


def _rules(
    request: AnswerRequest, file: str, function: str, profile: Profile
) -> Iterator[CodeRule]:
    """The rules that may govern a function, the likeliest first."""
    missed = [s for s in sentences(request.view) if is_missed(s, profile)]
    yield from commented(request.task.material[file], function)
    yield from (found.rule for found in in_record(request.view, request.task.query, missed))
