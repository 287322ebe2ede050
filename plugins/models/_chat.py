"""The chat protocol of OpenAI, as its servers and llama.cpp speak it: requests and answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from framework.contracts import Prompt
from framework.models.cache import Response
from framework.models.sdk import is_closed, tokens_of

CANDIDATES: Final = 20
"""Alternatives to a token that are asked for, the most that the protocol allows."""

_LONGEST: Final = 2000
"""Repetitions above which llama.cpp refuses a grammar, or does not hold it."""
_CHARACTER: Final = r'([^"\\\n\r\t]|\\n|\\")'
"""What llama.cpp takes for one in a pattern: as JSON writes it, so that a line break is two."""

_WRITTEN: Final = ("answer", "sql")
"""Keys under which the operations that answer in free text have the answer."""

_CLOSED: Final = re.compile(r'\s*"(?:[^"\\]|\\.)*"', re.DOTALL)
"""A value that has ended."""

_CARRIED: Final = (
    "response_format", "temperature", "top_p", "stop", "presence_penalty", "frequency_penalty",
    "tools", "tool_choice", "parallel_tool_calls",
)  # fmt: skip
"""What a chat of others may ask for besides its messages; the rest is the run's to say."""


def with_chat(body: dict[str, Any], prompt: Prompt) -> dict[str, Any]:
    """A request with what a chat of others asks for, as it is; its answer no longer than ours."""
    chat = prompt.chat
    if not chat:
        return body
    asked = {key: chat[key] for key in _CARRIED if chat.get(key) is not None}
    if "temperature" not in body:  # the model takes none
        asked.pop("temperature", None)
    longest = chat.get("max_completion_tokens") or chat.get("max_tokens")
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body and isinstance(longest, int):
            asked[name] = min(body[name], longest)
    kept = {key: value for key, value in body.items() if not key.endswith("logprobs")}
    return {**kept, **asked, "messages": list(chat["messages"])}


def messages_of(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt as the turns of a chat."""
    turns = [{"role": "user", "content": prompt.user}]
    return [{"role": "system", "content": prompt.system}, *turns] if prompt.system else turns


def form_of(operation: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a request that asks for an answer in a JSON schema, strictly where it can be."""
    named = {"name": operation, "schema": dict(schema), "strict": is_closed(schema)}
    return {"type": "json_schema", "json_schema": named}


def held(request: Mapping[str, Any], *, by_llama_cpp: bool) -> dict[str, Any]:
    """A request as it is sent: llama.cpp holds a longer text as a pattern of shorter pieces.

    The text has line breaks and quotation marks, but none of the other characters that JSON
    escapes: llama.cpp matches a pattern with the answer as it is written. Any other server gets no
    bound of such a text, which it may refuse: `max_tokens` alone ends it.
    """
    if "response_format" not in request:
        return dict(request)
    return {**request, "response_format": _held(request["response_format"], by_llama_cpp)}


def _held(form: Any, by_llama_cpp: bool) -> Any:
    if isinstance(form, list):
        return [_held(entry, by_llama_cpp) for entry in form]
    if not isinstance(form, Mapping):
        return form
    longest = form.get("maxLength")
    if isinstance(longest, int) and longest > _LONGEST:
        kept = {key: value for key, value in form.items() if key != "maxLength"}
        if not by_llama_cpp or form.get("type") != "string":
            return kept
        whole, rest = divmod(longest, _LONGEST)
        pieces = [_LONGEST] * whole + [rest] * bool(rest)
        return {**kept, "pattern": f"^{''.join(f'{_CHARACTER}{{0,{most}}}' for most in pieces)}$"}
    return {key: _held(value, by_llama_cpp) for key, value in form.items()}


def response_of(answer: Any, request: Mapping[str, Any]) -> Response:
    """The response in a decoded body. Raises what looking into one of another form raises."""
    choice, usage = answer["choices"][0], answer.get("usage")
    message, finish = choice["message"], choice.get("finish_reason")
    text = message.get("content") or ""
    if "tools" in request and message.get("tool_calls"):  # of a chat of others: its whole answer
        text = json.dumps({"content": text, "tool_calls": message["tool_calls"]})
    refused = bool(message.get("refusal")) or finish == "content_filter"
    details = usage.get("prompt_tokens_details") if isinstance(usage, Mapping) else None
    return Response(
        text=text,
        stop="refused" if refused else "length" if finish == "length" else "end",
        tokens_in=tokens_of(usage, "prompt_tokens"),
        tokens_out=tokens_of(usage, "completion_tokens"),
        tokens_cached=max(0, tokens_of(details, "cached_tokens")),
        model=str(answer.get("model", "")),
        confidence=_confidence(choice.get("logprobs"), request),
    )


def _confidence(logprobs: Any, request: Mapping[str, Any]) -> float | None:
    """How sure the log-probabilities are of what was chosen or, in free text, written.

    Of the first property that is a choice of words (an `enum` of strings; one of numbers is what
    the model states): the choice's share. Without one, the likelihood of the text under the first
    of `_WRITTEN`. None without log-probabilities, or such a property.
    """
    tokens = (logprobs or {}).get("content")
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    entries = form.get("properties", {})
    if not tokens or not request.get("logprobs"):
        return None
    for name, entry in entries.items():
        if "enum" in entry and all(isinstance(value, str) for value in entry["enum"]):
            return _share(list(_steps(tokens, json.dumps(name))), entry["enum"])
    written = next((name for name in _WRITTEN if name in entries), None)
    return None if written is None else _likelihood(_steps(tokens, json.dumps(written)))


def _likelihood(steps: Iterable[tuple[str, Any]]) -> float | None:
    """The geometric mean of the probabilities of a text's tokens, its end among them.

    It does not fall with the length of the text, as their product does (Malinin and Gales 2021).
    The probabilities are the model's, before its form rules tokens out. None where one is missing.
    """
    found = [e["logprob"] for before, e in steps if (before + e["token"]).strip() not in ("", '"')]
    if not found or any(p is None or math.isnan(p) for p in found):
        return None
    return round(min(1.0, math.exp(sum(found) / len(found))), 6)


def _share(steps: Sequence[tuple[str, Any]], choices: Sequence[str]) -> float | None:
    """The probability of the choice that was made, among those that the form allowed.

    At each token of it, the token's share of what the likeliest alternatives that still spell an
    allowed value have together; the product of these.
    """
    share = 1.0
    allowed = [_spelled(value) for value in choices]
    for before, entry in steps:
        both = {entry["token"]: entry["logprob"]}
        both |= {other["token"]: other["logprob"] for other in entry.get("top_logprobs") or ()}
        fitting = {t: p for t, p in both.items() if _fits(before + t, allowed)}
        if entry["token"] not in fitting:
            return None
        share *= math.exp(entry["logprob"]) / sum(map(math.exp, fitting.values()))
    return round(share, 6) if steps else None


def _steps(tokens: Sequence[Mapping[str, Any]], key: str) -> Iterator[tuple[str, Any]]:
    """The tokens of the value of a key, each with what of the value stands before it.

    Of the last such key: what a model wrote before its answer is none.
    """
    text = "".join(entry["token"] for entry in tokens)
    start = max((m.end() for m in re.finditer(rf"{re.escape(key)}\s*:", text)), default=len(text))
    closed = _CLOSED.match(text, start)
    end = closed.end() if closed else len(text)
    at = 0
    for entry in tokens:
        if start <= at < end:
            yield text[start:at], entry
        at += len(entry["token"])


def _spelled(value: Any) -> str:
    return json.dumps(value)


def _fits(text: str, allowed: Sequence[str]) -> bool:
    """Whether a value's beginning can still become one of these, or is one and goes on after it."""
    begun = text.lstrip()
    return any(value.startswith(begun) or begun.startswith(value) for value in allowed)
