"""Draft one edit of a pipeline from questions that it got wrong (Regimes 3.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from framework.contracts import Assignment
from framework.contracts.improve import Tried
from framework.operations.prompted import PromptedOperation
from framework.registry import register
from framework.text.canonical import canonical_json

_UNTOLD: Final = "not told"
_NAMED: Final = {"name", "text"}


@register("operation", "author_candidate")
class AuthorCandidate(PromptedOperation[Assignment, str]):
    """Draft one edit. The author's text is returned as is; only the loop's static gate reads it."""

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
            "code": (self.rule("code") if request.code else "") + request.operators,
            "code_key": '"code", ' * request.code + "".join(f'"{key}", ' for key in request.form),
        }

    def schema(self, request: Assignment) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        if request.code:
            schema["properties"]["code"] = {"type": ["string", "null"], "maxLength": 20_000}
            schema["required"].append("code")
        schema["properties"] |= request.form
        schema["required"] += request.form
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
