"""The model server's wire protocols: its requests in one form, and the bodies of its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request of either protocol, in one form."""

    protocol: Literal["messages", "completions", "embeddings"]
    operation: str
    system: str
    user: str
    body: Mapping[str, Any]
    tokens_in: int
    prefix: str
    tokens_prefix: int


def _anthropic(body: Mapping[str, Any], tokens: Callable[[str], int]) -> Asked:
    blocks = body["messages"][0]["content"]
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    marked = [i for i, block in enumerate(blocks) if "cache_control" in block]
    before = "".join(block["text"] for block in blocks[: marked[-1] + 1]) if marked else ""
    tools = body.get("tools", [])
    form = json.dumps(tools) if tools else ""
    system = body.get("system", "")
    prefix = form + system + before if before else ""
    said = "".join(_text(turn["content"]) for turn in body["messages"])
    return Asked(
        protocol="messages",
        operation=tools[0]["name"] if tools else "",
        system=system,
        user="".join(block["text"] for block in blocks),
        body=body,
        tokens_in=tokens(form + system + said),
        prefix=prefix,
        tokens_prefix=tokens(prefix),
    )


def _openai(body: Mapping[str, Any], tokens: Callable[[str], int]) -> Asked:
    by_role = {turn["role"]: turn["content"] for turn in reversed(body["messages"])}
    form = body.get("response_format", {})
    said = "".join(_text(turn["content"]) for turn in body["messages"])
    return Asked(
        protocol="completions",
        operation=form.get("json_schema", {}).get("name", ""),
        system=by_role.get("system", ""),
        user=by_role["user"],
        body=body,
        tokens_in=tokens((json.dumps(form) if form else "") + said),
        prefix="",
        tokens_prefix=0,
    )


def _embeddings(body: Mapping[str, Any], tokens: Callable[[str], int]) -> Asked:
    return Asked(
        protocol="embeddings",
        operation="embed",
        system="",
        user="",
        body=body,
        tokens_in=sum(map(tokens, body["input"])),
        prefix="",
        tokens_prefix=0,
    )


READ: Final = {
    "/v1/messages": _anthropic,
    "/v1/chat/completions": _openai,
    "/v1/embeddings": _embeddings,
}
"""By path, what reads the body of a request, given how tokens are counted in a text."""


def vectors(asked: Asked, dimension: int, fault: str) -> dict[str, Any]:
    """Hashed words in the place of a model's vectors; one is missing in a malformed answer."""
    from framework.models.hashing import hashed_words

    rows = hashed_words(asked.body["input"], dimension).tolist()
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    return {
        "object": "list",
        "model": asked.body["model"],
        "data": data[:-1] if fault == "malformed" else data,
        "usage": {"prompt_tokens": asked.tokens_in, "total_tokens": asked.tokens_in},
    }


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def answered(asked: Asked, text: str, tokens_out: int, fault: str, kept: bool) -> dict[str, Any]:
    """The text in the form of the protocol it was asked by, with what the fault makes of it.

    kept : whether the marked beginning of the prompt is in the provider's cache.
    """
    write = _message if asked.protocol == "messages" else _completion
    return write(asked, text, tokens_out, fault, kept)


def _message(asked: Asked, text: str, tokens_out: int, fault: str, kept: bool) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if fault == "refuse":
        content = []
    elif asked.operation and fault not in ("malformed", "too_long"):
        answer = json.loads(text)
        content = [{"type": "tool_use", "id": "t", "name": asked.operation, "input": answer}]
    stop = {"refuse": "refusal", "too_long": "max_tokens", "malformed": "end_turn"}
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": content,
        "stop_reason": stop.get(fault, "tool_use" if asked.operation else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": asked.tokens_in - asked.tokens_prefix,
            "cache_read_input_tokens": asked.tokens_prefix if kept else 0,
            "cache_creation_input_tokens": 0 if kept else asked.tokens_prefix,
            "output_tokens": tokens_out,
        },
    }


def _completion(asked: Asked, text: str, tokens_out: int, fault: str, kept: bool) -> dict[str, Any]:
    refused = fault == "refuse"
    message = {
        "role": "assistant",
        "content": None if refused else text,
        "refusal": "No." if refused else None,
    }
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "length" if fault == "too_long" else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": asked.tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": asked.tokens_in + tokens_out,
        },
    }


def error(kind: str, message: str) -> dict[str, Any]:
    """The body of an answer that tells a fault."""
    return {"type": "error", "error": {"type": kind, "message": message, "code": kind}}
