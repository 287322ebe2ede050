"""What the providers' SDKs have in common: a client, their errors, and what a strict schema is."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, TypeVar

from framework.models.cache import Response
from framework.models.transport import CallFailed, Served, ServedSettings
from framework.models.wire import bounded_client, retry_after
from framework.text.keys import without_keys

S = TypeVar("S", bound=ServedSettings)

_NO_KEY: Final = "none"
"""What an SDK is given where no key is to be sent: it refuses to start without one."""
_OF_A_KEY: Final = frozenset({401, 403})
_LONGEST_MESSAGE: Final = 300
"""Characters of a provider's message that are kept: it may repeat the request."""
_AGAIN: Final = frozenset({408, 409, 425, 429})
_NOT_OF_THE_PROTOCOL: Final = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What looking into data raises that is of another form, nested too deeply, or no text at all."""


class ThroughSDK(Served[S]):
    """What is served through a provider's own SDK, by its client's generic `post`.

    The typed methods of the SDKs cost twice the time and know fewer parameters than the protocol.

    sdk : the module, imported at the first call. client : its asynchronous client's class.
    path : where requests are posted, below `base_url`.
    """

    sdk: ClassVar[str]
    client: ClassVar[str]
    path: ClassVar[str]
    most_bytes: int = 2**26
    """Of one answer."""
    may_be_carried: bool = True
    _client: Any = None

    @abstractmethod
    def response(self, answer: Any, request: Mapping[str, Any]) -> Response:
        """The response in a decoded body.

        What it raises for one that is not of the protocol (`_NOT_OF_THE_PROTOCOL`) counts as an
        answer that is none.
        """

    def connect(self) -> None:
        if self._client is None:
            make = getattr(importlib.import_module(self.sdk), self.client)
            self._client = make(
                api_key=self._key or _NO_KEY,
                base_url=self.settings.base_url,
                timeout=self.settings.timeout_s,
                max_retries=0,
                http_client=bounded_client(self.sdk, self.most_bytes, self.settings.base_url),
            )

    async def send(self, request: Mapping[str, Any]) -> Response:
        try:
            answer = await self._client.post(self.path, cast_to=object, body=dict(request))
        except Exception as error:
            if (unfit := _unfit(getattr(error, "body", None))) is not None:
                return unfit
            sdk = importlib.import_module(self.sdk)
            raise failure(error, sdk, self.settings.base_url, self._key) from None
        return self.read(answer, request)

    def read(self, answer: Any, request: Mapping[str, Any]) -> Response:
        """The response in a decoded body, without any key. Raises CallFailed for none."""
        try:
            response = self.response(answer, request)
            text, model = (
                without_keys(said, self._key) for said in (response.text, response.model)
            )
            return replace(response, text=text, model=model)
        except _NOT_OF_THE_PROTOCOL:
            raise _no_answer() from None

    async def close(self) -> None:
        await super().close()
        if self._client is not None:
            await self._client.close()
            self._client = None


def failure(error: Exception, sdk: Any, address: str, key: str) -> CallFailed:
    """A failed attempt, from an exception of `sdk`, a module made by the providers' generator.

    With the beginning of the provider's message, but for a refused key (it may repeat the key), and
    without `key` in any. Raises `error` itself when it is none of the SDK's.
    """
    if isinstance(own := error if error.__cause__ is None else error.__cause__, CallFailed):
        own.problem = without_keys(own.problem, key)
        return own
    if isinstance(error, sdk.APITimeoutError):
        problem = f"no answer in time from {address}"
        return CallFailed("timeout", problem, again=True, maybe_billed=True)
    if isinstance(error, sdk.APIStatusError):
        status = error.status_code
        if status == 200:
            return _no_answer()
        return CallFailed(
            str(status),
            _message(error, key),
            again=status in _AGAIN or status >= 500,
            wait_s=retry_after(error.response.headers),
        )
    if isinstance(error, sdk.APIConnectionError):
        return CallFailed("connection", f"to {address} lost", again=True, maybe_billed=True)
    if isinstance(error, (sdk.APIResponseValidationError, RecursionError, ValueError)):
        return _no_answer()
    raise error


def _unfit(body: Any) -> Response | None:
    """What llama.cpp's server says of a prompt that its context does not hold; None for else."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping) or inner.get("type") != "exceed_context_size_error":
        return None
    needs, context = (max(0, tokens_of(inner, name)) for name in ("n_prompt_tokens", "n_ctx"))
    return Response(text="", stop="unfit", tokens_in=needs, tokens_out=0, context=context)


def _message(error: Any, key: str) -> str:
    """The type of a refusal and what the provider said of it, in one line."""
    name, body = type(error).__name__, error.body
    if error.status_code in _OF_A_KEY or not isinstance(body, Mapping):
        return name
    inner = body.get("error")
    said = (inner if isinstance(inner, Mapping) else body).get("message", "")
    said = without_keys(" ".join(str(said).split()), key)
    return f"{name}: {said[:_LONGEST_MESSAGE]}" if said else name


def _no_answer() -> CallFailed:
    """A body that was cut off, or is not what the protocol says: it was served all the same."""
    return CallFailed("body", "an answer that is none", again=True, maybe_billed=True)


def tokens_of(usage: Any, name: str) -> int:
    """Tokens that a server says it counted; -1 where it says no number (see `believed`)."""
    said = usage.get(name) if isinstance(usage, Mapping) else None
    return said if type(said) is int else -1


def is_closed(schema: Any) -> bool:
    """Whether every object in a JSON schema requires all it lists and forbids anything else."""
    if isinstance(schema, list):
        return all(is_closed(entry) for entry in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        listed = set(schema.get("properties", {}))
        required = set(schema.get("required", ()))
        if schema.get("additionalProperties") is not False or listed != required:
            return False
    return all(is_closed(value) for value in schema.values())


def unbounded(schema: Any, names: Sequence[str]) -> Any:
    """A JSON schema without the bounds of these names.

    For servers that refuse some of them: an answer is then bounded by `max_tokens` alone.
    """
    if isinstance(schema, list):
        return [unbounded(entry, names) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: unbounded(entry, names) for name, entry in value.items()}
        if key == "properties" and isinstance(value, Mapping)
        else unbounded(value, names)
        for key, value in schema.items()
        if not (key in names and isinstance(value, (int, float)))
    }
