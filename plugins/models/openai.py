"""OpenAI's models through its own SDK, and every server that speaks its chat protocol."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PureWindowsPath
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from framework.contracts import Prompt
from framework.models.cache import Response
from framework.models.sdk import unbounded
from framework.models.transport import CallFailed
from framework.registry import register
from plugins.models._batches import Batched, BatchedSettings, Found, Outcome, Record, lines_of
from plugins.models._chat import CANDIDATES, form_of, held, messages_of, response_of, with_chat
from plugins.models.local.gguf import named

_OWN: Final = "api.openai.com"
_REFUSED: Final = ("minLength", "maxLength")
"""Bounds of texts, which strict schemas of OpenAI's own service do not know."""
_GREETING_S: Final = 2.0
_COMPLETIONS: Final = "/v1/chat/completions"
_TEMPLATE: Final = 256
"""Tokens that a chat's template may add to its turns."""
_DAY_S: Final = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings(BatchedSettings):
    """Settings of `model=openai`, besides those of every language model with batches.

    base_url : also the address of vLLM, Ollama or llama.cpp, such as `http://127.0.0.1:8000/v1`.
    temperature : None for models that take no temperature (the reasoning models).
    seed : seed of the first sample; further samples count up from it. None sends no seed.
    structured_output : `schema` asks for the answer in a JSON schema, strictly where the schema
        allows that; `json` for any JSON object; `none` asks in words alone.
    confidence : source of an answer's confidence: stated in the answer, or from the model's
        log-probabilities.
    """

    name: str = "gpt-4.1-2025-04-14"
    base_url: str = "https://api.openai.com/v1"
    seed: int | None = 0
    structured_output: Literal["schema", "json", "none"] = "schema"
    confidence: Literal["stated", "logprobs"] = "stated"
    api_key_env: str | None = field(default="OPENAI_API_KEY", metadata={"operational": True})


@register("model", "openai")
class OpenAI(Batched[OpenAISettings]):
    """OpenAI's models and any OpenAI-compatible server, through chat completions.

    Of a server that tells its slots (llama.cpp, `/props`) no more calls are under way than it has
    slots, and rows name the weights that it says it holds. A prompt that can't fit the context
    that a server tells (llama.cpp, or vLLM by `/models`) is not sent, where the server counts its
    tokens.
    Sources: https://developers.openai.com/api/reference/resources/chat and .../batches.
    """

    provider = "openai"
    sdk = "openai"
    client = "AsyncOpenAI"
    path = "/chat/completions"
    _context: int | None = None
    """Tokens that the server says it holds; `_with_answer`: of prompt and answer together."""
    _with_answer: bool = False
    _is_llama_cpp: bool = False
    _weights: str = ""
    """What a server of llama.cpp says it holds, whatever name it is asked for."""

    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        settings = self.settings
        # OpenAI's newer models refuse the old name, other servers know no other.
        own = urlsplit(settings.base_url).hostname == _OWN
        bounded = schema if settings.structured_output == "schema" and not own else None
        body: dict[str, Any] = {
            "model": settings.name,
            "messages": messages_of(prompt),
            "max_completion_tokens" if own else "max_tokens": self.room(operation, bounded),
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.seed is not None:
            body["seed"] = settings.seed + sample
        if settings.confidence == "logprobs":
            body |= {"logprobs": True, "top_logprobs": CANDIDATES}
        if schema is not None and settings.structured_output == "schema":
            known = unbounded(schema, _REFUSED) if own else schema
            body["response_format"] = form_of(operation, known)
        elif schema is not None and settings.structured_output == "json":
            body["response_format"] = {"type": "json_object"}
        return with_chat(body, prompt)

    def response(self, answer: Any, request: Mapping[str, Any]) -> Response:
        return response_of(answer, request)

    async def submit(self, name: str, requests: Mapping[str, Mapping[str, Any]]) -> str:
        bodies = {key: held(one, by_llama_cpp=False) for key, one in requests.items()}
        lines = [
            json.dumps({"custom_id": key, "method": "POST", "url": _COMPLETIONS, "body": body})
            for key, body in bodies.items()
        ]
        content = "\n".join(lines).encode()
        file = await self._client.files.create(file=(f"{name}.jsonl", content), purpose="batch")
        made = await self._client.batches.create(
            input_file_id=file.id,
            endpoint=_COMPLETIONS,
            completion_window="24h",
            metadata={"name": name},
        )
        return str(made.id)

    async def find(self, record: Record) -> str | None:
        async for batch in self._client.batches.list(limit=100):
            named = (batch.metadata or {}).get("name") == record.name
            if named and batch.id not in record.not_ours:
                return str(batch.id)
            if batch.created_at < record.created - _DAY_S:
                break
        return None

    async def collect(self, id_: str) -> Found | None:
        batch = await self._client.batches.retrieve(id_)
        if batch.status == "failed":
            told = "; ".join(e.message or "" for e in (batch.errors and batch.errors.data) or ())
            raise CallFailed("batch", f"{id_} was refused: {told[:300]}", again=False)
        if batch.status not in ("completed", "expired", "cancelled"):
            return None
        found: Found = {}
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            for entry in lines_of((await self._client.files.content(file)).text):
                answered = entry.get("response")
                found[entry["custom_id"]] = (
                    Outcome(status=int(answered["status_code"]), body=answered["body"])
                    if answered is not None
                    else None
                )
        return found

    async def greet(self) -> None:
        if urlsplit(self.settings.base_url).hostname == _OWN:
            return
        told = await self._told("GET", f"{self._root}/props")
        with suppress(KeyError, TypeError, ValueError):
            self.at_most(int(told["total_slots"]))
            self._is_llama_cpp = True
            self._context = int(told["default_generation_settings"]["n_ctx"])
        listed = await self._told("GET", f"{self.settings.base_url.rstrip('/')}/models")
        if self._is_llama_cpp:
            self._weights = _weights(told, listed)
            return
        with suppress(KeyError, StopIteration, TypeError, ValueError):
            mine = next(one for one in listed["data"] if one["id"] == self.settings.name)
            self._context = int(mine["max_model_len"])
            self._with_answer = True

    async def send(self, request: Mapping[str, Any]) -> Response:
        """A prompt that the server's context does not hold is not sent, where the server counts."""
        response = await self._fitting(held(request, by_llama_cpp=self._is_llama_cpp))
        return replace(response, model=self._weights or response.model)

    async def _fitting(self, request: Mapping[str, Any]) -> Response:
        context = self._context
        if context is None:
            return await super().send(request)
        # A server of vLLM refuses what leaves no room for the longest answer.
        answer = int(request["max_tokens"]) if self._with_answer else 0
        turns = (str(turn.get("content") or "") for turn in request["messages"])
        most = sum(len(content.encode()) for content in turns) + _TEMPLATE
        # No tokenizer makes more tokens of a text than it has bytes: most need no counting.
        counted = await self._counted(request) if most + answer > context else None
        if counted is None or counted + answer <= context:
            return await super().send(request)
        return Response(
            text="", stop="unfit", tokens_in=counted + answer, tokens_out=0, context=context
        )

    async def _counted(self, request: Mapping[str, Any]) -> int | None:
        """Tokens of the prompt by the server's own template; None where it does not tell."""
        root, asked = self._root, {"messages": request["messages"]}
        try:
            if self._with_answer:
                body = {"model": self.settings.name, **asked}
                return int((await self._told("POST", f"{root}/tokenize", body))["count"])
            shown = (await self._told("POST", f"{root}/apply-template", asked))["prompt"]
            body = {"content": shown, "add_special": True, "parse_special": True}
            return len((await self._told("POST", f"{root}/tokenize", body))["tokens"])
        except (KeyError, TypeError, ValueError):
            return None

    @property
    def _root(self) -> str:
        """Where the server answers what is not of OpenAI's protocol: above `/v1`."""
        return self.settings.base_url.rstrip("/").removesuffix("/v1")

    async def _told(self, method: str, address: str, body: Mapping[str, Any] | None = None) -> Any:
        """What a server answers to a question that not every server knows; None for no answer."""
        options = {"timeout": _GREETING_S}
        try:
            if method == "GET":
                return await self._client.get(address, cast_to=object, options=options)
            return await self._client.post(address, cast_to=object, body=body, options=options)
        except (importlib.import_module(self.sdk).OpenAIError, CallFailed, ValueError):
            return None


def _weights(props: Mapping[str, Any], listed: Any) -> str:
    """Name, parameters and quantisation of what a server of llama.cpp holds, as far as it tells."""
    parameters = 0
    with suppress(IndexError, KeyError, TypeError, ValueError):
        parameters = int(listed["data"][0]["meta"]["n_params"])
    file = PureWindowsPath(str(props.get("model_path") or ""))  # that of either kind of system
    return named(file.stem, parameters, str(props.get("model_ftype") or ""))
