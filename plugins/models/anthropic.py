"""Claude models through Anthropic's own SDK, and servers that speak its Messages protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from framework.contracts import Prompt
from framework.models.cache import Response
from framework.models.llm import LLM, LLMSettings
from framework.models.sdk import ThroughSDK, is_closed, unbounded
from framework.registry import register

_OF_TEXTS: Final = ("maxLength",)
_REFUSED: Final = (*_OF_TEXTS, "maxItems", "maximum", "minimum", "multipleOf")
"""Bounds that the form of an answer may not have (a tool's input may)."""
_WORTH_KEEPING = 4096
"""Characters of a shared prefix below which no Claude model keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSettings(LLMSettings):
    """Settings of `model=anthropic`, besides those of every language model.

    temperature : None for models that take none (those after Claude 4.6).
    structured_output : `tool` has the model call a tool whose input is the answer; `format` asks
        for the answer in a JSON schema (needed where thinking is always on, which rules out a
        forced tool; schemas with open objects then go without); `none` asks in words alone.
    prompt_caching : marks the prefix that other requests of the same history repeat, so that the
        provider keeps it for five minutes.
    """

    name: str = "claude-haiku-4-5-20251001"
    base_url: str = "https://api.anthropic.com"
    structured_output: Literal["tool", "format", "none"] = "tool"
    prompt_caching: bool = True
    api_key_env: str | None = field(default="ANTHROPIC_API_KEY", metadata={"operational": True})


@register("model", "anthropic")
class Anthropic(ThroughSDK[AnthropicSettings], LLM[AnthropicSettings]):
    """Claude models by Anthropic's Messages API.

    Source: https://platform.claude.com/docs/en/api/messages.
    """

    provider = "anthropic"
    sdk = "anthropic"
    client = "AsyncAnthropic"
    path = "/v1/messages"

    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        settings = self.settings
        body: dict[str, Any] = {
            "model": settings.name,
            "max_tokens": settings.max_tokens,
            "messages": [{"role": "user", "content": self._content(prompt)}],
        }
        if prompt.system:
            body["system"] = prompt.system
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if schema is not None and settings.structured_output == "tool":
            # A bound may hang on the budget, and tools stand first: what is kept would be lost.
            form = unbounded(schema, _OF_TEXTS)
            body["tools"] = [
                {"name": operation, "description": "Give the answer.", "input_schema": form}
            ]
            body["tool_choice"] = {"type": "tool", "name": operation}
        if schema is not None and settings.structured_output == "format" and is_closed(schema):
            known = unbounded(schema, _REFUSED)
            body["output_config"] = {"format": {"type": "json_schema", "schema": known}}
        return body

    def response(self, answer: Any, request: Mapping[str, Any]) -> Response:
        blocks, usage = answer["content"], answer["usage"]
        tools = [block["input"] for block in blocks if block["type"] == "tool_use"]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        kept = usage.get("cache_read_input_tokens") or 0
        written = usage.get("cache_creation_input_tokens") or 0
        return Response(
            text=json.dumps(tools[0], ensure_ascii=False) if tools else "".join(texts),
            stop=_STOPS.get(answer["stop_reason"], "end"),
            tokens_in=int(usage["input_tokens"]) + kept + written,
            tokens_out=int(usage["output_tokens"]),
            tokens_cached=kept,
            tokens_written=written,
            model=str(answer["model"]),
        )

    def _content(self, prompt: Prompt) -> str | list[dict[str, Any]]:
        if not self.settings.prompt_caching or prompt.shared < _WORTH_KEEPING:
            return prompt.user
        shared, rest = prompt.user[: prompt.shared], prompt.user[prompt.shared :]
        kept = {"type": "text", "text": shared, "cache_control": {"type": "ephemeral"}}
        return [kept, {"type": "text", "text": rest}] if rest else [kept]


_STOPS: Mapping[str | None, Literal["end", "length", "refused"]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
