from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from framework.records import Answer, Case
from framework.text.canonical import canonical_json
from framework.text.hunks import Hunk, as_edit
from plugins.domains.codebase.answering_back import references
from plugins.domains.codebase.domain import Codebase, CodebaseSettings


@lru_cache(maxsize=8)
def domain(**settings: Any) -> Codebase:
    return Codebase(CodebaseSettings(**settings))


TARGETS = sorted(references())


def reference(target: str) -> Answer:
    return Answer(edit=canonical_json({"edits": references()[target]}))


def case_of(target: str, **settings: Any) -> Case:
    (found,) = [
        case
        for case in domain(**settings).cases(None, 7)
        if json.loads(case.gold.invariant)["target"] == target
    ]
    return found


def patch(target: str, *pairs: tuple[str, str], rationale: str = "") -> Answer:
    """An answer that makes these replacements in the target's file."""
    file = f"lending/{target.partition('.')[0]}.py"
    hunks = [Hunk(file=file, search=old, replace=new) for old, new in pairs]
    return Answer(edit=as_edit(hunks), rationale=rationale)
