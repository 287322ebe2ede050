"""OpenAI's models through its own SDK, and every server that speaks its chat protocol."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from framework.contracts import Prompt
from framework.models.cache import Response
from framework.models.llm import LLM, LLMSettings
from framework.models.sdk import ThroughSDK, unbounded
from framework.registry import register
from plugins.models._chat import CANDIDATES, form_of, messages_of, response_of

_OWN: Final = "api.openai.com"
_REFUSED: Final = ("minLength", "maxLength")
"""Bounds of texts, which strict schemas of OpenAI's own service do not know."""
_LONGEST: Final = 2000
"""Repetitions above which llama.cpp refuses a grammar."""
_GREETING_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings(LLMSettings):
    """Settings of `model=openai`, besides those of every language model.

    base_url : also that of vLLM, Ollama or llama.cpp, as `http://127.0.0.1:8000/v1`.
    temperature : None for models that take none (the reasoning models).
    seed : of the first sample, the others count on from it; None sends none.
    structured_output : `schema` asks for the answer in a JSON schema, strictly where the schema
        allows that; `json` for any JSON object; `none` asks in words alone.
    confidence : of a decision, as the answer states it, or by the model's log-probabilities.
    """

    name: str = "gpt-4.1-2025-04-14"
    base_url: str = "https://api.openai.com/v1"
    seed: int | None = 0
    structured_output: Literal["schema", "json", "none"] = "schema"
    confidence: Literal["stated", "logprobs"] = "stated"
    api_key_env: str | None = field(default="OPENAI_API_KEY", metadata={"operational": True})


@register("model", "openai")
class OpenAI(ThroughSDK[OpenAISettings], LLM[OpenAISettings]):
    """OpenAI's models, and any OpenAI-compatible server, by chat completions.

    Of a server on this machine that tells its slots (llama.cpp, `/props`) no more calls are under
    way than it has slots.
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
        # OpenAI's newer models refuse the old name, other servers know no other.
        own = urlsplit(settings.base_url).hostname == _OWN
        held = schema if settings.structured_output == "schema" and not own else None
        body: dict[str, Any] = {
            "model": settings.name,
            "messages": messages_of(prompt),
            "max_completion_tokens" if own else "max_tokens": self.room(held),
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.seed is not None:
            body["seed"] = settings.seed + sample
        if settings.confidence == "logprobs":
            body |= {"logprobs": True, "top_logprobs": CANDIDATES}
        if schema is not None and settings.structured_output == "schema":
            known = unbounded(schema, _REFUSED, 0 if own else _LONGEST)
            body["response_format"] = form_of(operation, known)
        elif schema is not None and settings.structured_output == "json":
            body["response_format"] = {"type": "json_object"}
        return body

    def response(self, answer: Any, request: Mapping[str, Any]) -> Response:
        return response_of(answer, request)

    async def greet(self) -> None:
        url = urlsplit(self.settings.base_url)
        if url.hostname not in ("localhost", "127.0.0.1", "::1"):
            return
        sdk = importlib.import_module(self.sdk)
        try:
            told = await self._client.get(
                f"{url.scheme}://{url.netloc}/props",
                cast_to=object,
                options={"timeout": _GREETING_S},
            )
            self.at_most(int(told["total_slots"]))
        except (sdk.OpenAIError, KeyError, TypeError, ValueError):
            return  # another server than llama.cpp's, which tells nothing
