"""Draft one edit of a pipeline from questions that it got wrong (Regimes 3.3)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from framework.contracts import Assignment, Profile
from framework.contracts.improve import Tried
from framework.operations.prompted import PromptedOperation
from framework.registry import register
from framework.text.canonical import canonical_json, digest

__all__ = ["AuthorCandidate"]

_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_UNTOLD: Final = "not told"
_NAMED: Final = {"name", "text"}


@register("operation", "author_candidate")
class AuthorCandidate(PromptedOperation[Assignment, str]):
    """Draft one edit: the text as the author gave it, which only the loop's static gate reads.

    The rule-based draft is the untried patch of the target's library whose words and note share
    most with the failed questions, the first of equals; empty when all were tried. A language model
    is never shown the library.
    """

    slots = frozenset(
        {"regime", "failures", "seams", "signals", "fragments", "tried", "code", "code_key"}
    )

    def fill(self, request: Assignment) -> Mapping[str, str]:
        shown = [
            f"<failure>\nQuestion: {f.question}\nThe reader saw:\n{f.view}\n"
            f"The reader said: {f.answer or '(nothing)'}\n</failure>"
            for f in request.failures
        ]
        regime = f"{request.regime}: {request.meaning}" if request.regime else _UNTOLD
        tried = [f"- {_said(t)}: {t.reason}" for t in request.tried]
        return {
            "regime": regime,
            "failures": "\n".join(shown) or _UNTOLD,
            "seams": ", ".join(request.seams),
            "signals": ", ".join(request.signals),
            "fragments": "\n".join(f"{name}: {text!r}" for name, text in request.fragments.items()),
            "tried": "\n".join(tried) or "nothing",
            "code": self.rule("code") if request.code else "",
            "code_key": '"code", ' if request.code else "",
        }

    def schema(self, request: Assignment) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        if request.code:
            schema["properties"]["code"] = {"type": ["string", "null"]}
            schema["required"].append("code")
        return dict(schema)

    def parse(self, text: str, request: Assignment) -> str:
        """The draft without what the answer's form demands and the seam has no use for.

        Text that is no JSON object stays as it is: what it is worth is for the gate to say.
        """
        try:
            data = _given(self.json_object(text))
        except (ValueError, RecursionError):
            return text
        fragments = data.get("fragments")
        if isinstance(fragments, list) and all(set(f) == _NAMED for f in fragments):
            data["fragments"] = {f["name"]: f["text"] for f in fragments}
        return json.dumps(data, ensure_ascii=False)

    def render(self, response: str) -> str:
        return response

    def offline(self, request: Assignment, profile: Profile) -> str:
        tried = {digest([t.seam, t.payload]) for t in request.tried}
        asked = _words(" ".join(f.question for f in request.failures))
        best, shared = "", -1
        for patch in request.library:
            if patch.seam in request.seams and digest([patch.seam, patch.payload]) not in tried:
                draft = canonical_json({"seam": patch.seam, **patch.payload, "why": patch.id})
                common = len(asked & _words(f"{draft} {patch.note}"))
                if common > shared:
                    best, shared = draft, common
        return best


def _said(tried: Tried) -> str:
    """An earlier draft on one line."""
    if tried.text:
        return json.dumps(tried.text, ensure_ascii=False)
    return canonical_json({"seam": tried.seam, **tried.payload})


def _given(value: Any) -> Any:
    """The value without the keys that hold nothing."""
    if isinstance(value, dict):
        return {key: _given(part) for key, part in value.items() if part is not None}
    return [_given(part) for part in value] if isinstance(value, list) else value


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
