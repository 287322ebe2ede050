"""A system's own chat, asked of the run's model as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from framework.contracts import Operation, Prompt
from framework.text.reading import read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """The request of OpenAI's chat protocol that a system sent."""

    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """What the model said. finish : `stop`, `length` where it was cut off, or `tool_calls`."""

    text: str
    tool_calls: list[Any] = field(default_factory=list)
    finish: str = "stop"


class SystemChat(Operation[ChatRequest, ChatAnswer]):
    """Whatever a system asks a language model: its messages, form, temperature and tools."""

    name = "system_chat"

    def prompt(self, request: ChatRequest) -> Prompt:
        turns = [(str(turn.get("role")), said(turn)) for turn in request.body["messages"]]
        own = [text for role, text in turns if role in ("system", "developer")]
        rest = [(role, text) for role, text in turns if role not in ("system", "developer")]
        alone = len(rest) == 1 and rest[0][0] == "user"
        user = rest[0][1] if alone else "\n\n".join(f"{role}: {text}" for role, text in rest)
        return Prompt(system="\n\n".join(own), user=user, chat=request.body)

    def parse(self, text: str, request: ChatRequest) -> ChatAnswer:
        if request.body.get("tools"):
            try:
                message = read_json(text)
            except ValueError:
                message = None
            if isinstance(message, dict) and isinstance(message.get("tool_calls"), list):
                calls = message["tool_calls"]
                return ChatAnswer(
                    text=str(message.get("content") or ""), tool_calls=calls, finish="tool_calls"
                )
        return ChatAnswer(text=text)

    def parse_cut(self, text: str, request: ChatRequest, tokens: int) -> ChatAnswer:
        return ChatAnswer(text=text, finish="length")


def said(turn: Mapping[str, Any]) -> str:
    """The text of a turn, whose content may be a list of parts."""
    content = turn.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)
