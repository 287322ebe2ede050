"""Claude models through Anthropic's own SDK, and servers that speak its Messages protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from framework.contracts import Prompt
from framework.errors import StopRun
from framework.models.cache import Response
from framework.models.sdk import is_closed, tokens_of, unbounded
from framework.registry import register
from plugins.models._batches import Batched, BatchedSettings, Found, Outcome, Record

_OF_TEXTS: Final = ("maxLength",)
_REFUSED: Final = (
    *_OF_TEXTS, "maxItems", "maximum", "minItems", "minLength", "minimum", "multipleOf"
)  # fmt: skip
"""Bounds that the form of an answer may not have (a tool's input may)."""
_BATCHES: Final = "/v1/messages/batches"
_CLOCKS_DIFFER_S: Final = 60.0
_STATUSES: Final = {
    "invalid_request_error": 400, "authentication_error": 401, "permission_error": 403,
    "not_found_error": 404, "rate_limit_error": 429,
}  # fmt: skip
"""The status of an error that a batch names by its type."""
_WORTH_KEEPING = 4096
"""Characters of a shared prefix below which no Claude model keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSettings(BatchedSettings):
    """Settings of `model=anthropic`, besides those of every language model with batches.

    temperature : None for models that take no temperature (those after Claude 4.6).
    structured_output : `tool` has the model call a tool whose input is the answer; `format` asks
        for the answer in a JSON schema (needed where thinking is always on, which rules out a
        forced tool; schemas with open objects then go without); `none` asks in words alone.
    prompt_caching : marks the prefix that requests of the same history repeat, so that the provider
        stores it for five minutes.
    """

    name: str = "claude-haiku-4-5-20251001"
    base_url: str = "https://api.anthropic.com"
    structured_output: Literal["tool", "format", "none"] = "tool"
    prompt_caching: bool = True
    api_key_env: str | None = field(default="ANTHROPIC_API_KEY", metadata={"operational": True})


@register("model", "anthropic")
class Anthropic(Batched[AnthropicSettings]):
    """Claude models, through Anthropic's Messages API.

    Sources: https://platform.claude.com/docs/en/api/messages and .../api/messages/batches.
    """

    provider = "anthropic"
    sdk = "anthropic"
    client = "AsyncAnthropic"
    path = "/v1/messages"

    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        settings = self.settings
        if prompt.chat.get("tools"):
            raise StopRun("a memory system's tools are not carried to model=anthropic")
        body: dict[str, Any] = {
            "model": settings.name,
            "max_tokens": self.room(operation, None),
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
        blocks, usage = answer["content"], answer.get("usage")
        tools = [block["input"] for block in blocks if block["type"] == "tool_use"]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        kept = max(0, tokens_of(usage, "cache_read_input_tokens"))
        written = max(0, tokens_of(usage, "cache_creation_input_tokens"))
        return Response(
            text=json.dumps(tools[0], ensure_ascii=False) if tools else "".join(texts),
            stop=_STOPS.get(answer["stop_reason"], "end"),
            tokens_in=tokens_of(usage, "input_tokens") + kept + written,
            tokens_out=tokens_of(usage, "output_tokens"),
            tokens_cached=kept,
            tokens_written=written,
            model=str(answer["model"]),
        )

    async def submit(self, name: str, requests: Mapping[str, Mapping[str, Any]]) -> str:
        entries = [{"custom_id": key, "params": body} for key, body in requests.items()]
        made = await self._client.post(_BATCHES, cast_to=object, body={"requests": entries})
        return str(made["id"])

    async def find(self, record: Record) -> str | None:
        """A batch has no name here: the one of so many requests since, which no record knows."""
        known = {one.id for one in self._records.values()} | {*record.not_ours}
        page = await self._client.get(f"{_BATCHES}?limit=100", cast_to=object)
        for batch in page["data"]:
            made = datetime.fromisoformat(batch["created_at"]).timestamp()
            n = sum(batch["request_counts"].values())
            late = made >= record.created - _CLOCKS_DIFFER_S
            if late and n == len(record.requests) and batch["id"] not in known:
                return str(batch["id"])
        return None

    async def collect(self, id_: str) -> Found | None:
        batch = await self._client.get(f"{_BATCHES}/{id_}", cast_to=object)
        if batch["processing_status"] != "ended":
            return None
        found: Found = {}
        async for entry in await self._client.messages.batches.results(id_):
            result = entry.to_dict(mode="json")["result"]
            if result["type"] == "succeeded":
                found[entry.custom_id] = Outcome(status=200, body=result["message"])
            elif result["type"] == "errored":
                error = result["error"]["error"]
                status = _STATUSES.get(error["type"], 500)
                found[entry.custom_id] = Outcome(status=status, body=error)
            else:
                found[entry.custom_id] = None
        return found

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
