"""What the providers' SDKs have in common: their errors, and what a strict schema is."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from framework.models.cache import Response
from framework.models.transport import CallFailed

NO_KEY = "none"
"""What an SDK is given where no key is to be sent: it refuses to start without one."""
_AGAIN = frozenset({408, 409, 425, 429})


def failure(error: Exception, sdk: Any) -> CallFailed:
    """A failed attempt, from an exception of `sdk`, a module made by the providers' generator.

    The provider's message is left out: it may repeat the request. Raises `error` itself when it is
    none of the SDK's.
    """
    if isinstance(error, sdk.APITimeoutError):
        return CallFailed("timeout", "no answer in time", again=True, maybe_billed=True)
    if isinstance(error, sdk.APIStatusError):
        status = error.status_code
        if status == 200:
            return no_answer()
        return CallFailed(
            str(status),
            type(error).__name__,
            again=status in _AGAIN or status >= 500,
            wait_s=_retry_after(error.response.headers),
        )
    if isinstance(error, sdk.APIConnectionError):
        return CallFailed("connection", "lost", again=True, maybe_billed=True)
    if isinstance(error, (sdk.APIResponseValidationError, json.JSONDecodeError)):
        return no_answer()
    raise error


def read(response: Callable[[Any], Response], answer: Any) -> Response:
    """The response in a decoded body. Raises CallFailed for one that is not of the protocol."""
    try:
        return response(answer)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise no_answer() from None


def no_answer() -> CallFailed:
    """A body that was cut off, or is not what the protocol says: it was served all the same."""
    return CallFailed("body", "an answer that is none", again=True, maybe_billed=True)


def is_closed(schema: Any) -> bool:
    """Whether every object in a JSON schema requires all it lists and forbids anything else."""
    if isinstance(schema, list):
        return all(is_closed(entry) for entry in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        listed = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or listed != set(
            schema.get("required", ())
        ):
            return False
    return all(is_closed(value) for value in schema.values())


def _retry_after(headers: Any) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
