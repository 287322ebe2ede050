from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from framework.records import Answer, Case
from framework.text.canonical import canonical_json
from framework.text.hunks import Hunk, as_edit
from plugins.domains.codebase.domain import Codebase, CodebaseSettings


@lru_cache(maxsize=8)
def domain(**settings: Any) -> Codebase:
    return Codebase(CodebaseSettings(**settings))


@lru_cache(maxsize=1)
def references() -> dict[str, list[dict[str, str]]]:
    """By target, a patch written by hand that honours the rule."""
    path = Path(__file__).with_name("references.json")
    loaded: dict[str, list[dict[str, str]]] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


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
