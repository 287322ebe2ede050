"""OpenAI's models through its own SDK, and every server that speaks its chat protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from framework.contracts import Prompt
from framework.models.cache import Response
from framework.models.llm import LLM, LLMSettings
from framework.models.sdk import ThroughSDK, is_closed
from framework.registry import register
from framework.text.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings(LLMSettings):
    """Settings of `model=openai`, besides those of every language model.

    base_url : also that of vLLM, Ollama or llama.cpp, as `http://127.0.0.1:8000/v1`.
    temperature : None for models that take none (the reasoning models).
    seed : of the first sample, the others count on from it; None sends none.
    structured_output : `schema` asks for the answer in a JSON schema, strictly where the schema
        allows that; `json` for any JSON object; `none` asks in words alone.
    """

    name: str = "gpt-4.1-2025-04-14"
    base_url: str = "https://api.openai.com/v1"
    seed: int | None = 0
    structured_output: Literal["schema", "json", "none"] = "schema"
    api_key_env: str | None = field(default="OPENAI_API_KEY", metadata={"operational": True})


@register("model", "openai")
class OpenAI(ThroughSDK[OpenAISettings], LLM[OpenAISettings]):
    """OpenAI's models, and any OpenAI-compatible server, by chat completions.

    Source: https://developers.openai.com/api/reference/resources/chat.
    """

    provider = "openai"
    sdk = "openai"
    client = "AsyncOpenAI"
    path = "/chat/completions"

    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        settings = self.settings
        messages = [{"role": "user", "content": prompt.user}]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        # OpenAI's newer models refuse the old name, other servers know no other.
        own = urlsplit(settings.base_url).hostname == "api.openai.com"
        body: dict[str, Any] = {
            "model": settings.name,
            "messages": messages,
            "max_completion_tokens" if own else "max_tokens": settings.max_tokens,
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.seed is not None:
            body["seed"] = settings.seed + sample
        if schema is not None and settings.structured_output == "schema":
            named = {"name": operation, "schema": dict(schema), "strict": is_closed(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None and settings.structured_output == "json":
            body["response_format"] = {"type": "json_object"}
        return body

    def response(self, answer: Any, request: Mapping[str, Any]) -> Response:
        choice, usage = answer["choices"][0], answer.get("usage")
        message, finish = choice["message"], choice.get("finish_reason")
        text = message.get("content") or ""
        refused = bool(message.get("refusal")) or finish == "content_filter"
        if usage is None:  # a server that counts nothing: by our own counter, which prices nothing
            tokens_in = sum(count_tokens(turn["content"]) for turn in request["messages"])
            tokens_out, cached = count_tokens(text), 0
        else:
            tokens_in, tokens_out = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        return Response(
            text=text,
            stop="refused" if refused else "length" if finish == "length" else "end",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tokens_cached=cached,
            model=str(answer.get("model", "")),
        )
