"""One exchange over the network: bounded in time and size, and with the host that was named alone.

The timeouts of a client are of each read: a server that sends a byte now and then would hold a call
for ever. Here the whole of it, from the first byte sent to the last byte read, has a deadline.
"""

from __future__ import annotations

import asyncio
import email.utils
import importlib
import math
import re
import time
from typing import Any, Final
from urllib.parse import urlsplit

from framework.models.transport import CallFailed

_IDENTITY: Final = "identity"
_ELSEWHERE: Final = range(300, 400)


def bounded_client(sdk: str, most_bytes: int, address: str) -> Any:
    """An HTTP client of a provider's SDK, by module name, for calls to one address.

    A call ends within the seconds of its read timeout, whatever its server does. An answer has at
    most `most_bytes` and comes as it is: it could grow to any size where it was compressed.
    Redirects are not followed, as the request holds prompts. Each raises CallFailed.
    """
    base: Any = importlib.import_module(sdk).DefaultAsyncHttpxClient

    class Bounded(base):  # type: ignore[misc]
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            request.headers["accept-encoding"] = _IDENTITY
            seconds = (request.extensions.get("timeout") or {}).get("read")
            try:
                async with asyncio.timeout(seconds):
                    options["follow_redirects"] = False
                    response = await super().send(request, stream=True, **options)
                    try:
                        return await _whole(response, most_bytes, request)
                    finally:
                        await response.aclose()
            except TimeoutError:
                problem = f"no answer within {seconds:g} s from {address}"
                raise CallFailed("timeout", problem, again=True, maybe_billed=True) from None

    return Bounded()


async def _whole(response: Any, most_bytes: int, request: Any) -> Any:
    """The response, read to its end. Raises CallFailed for one that is not to be read."""
    status = response.status_code
    if status in _ELSEWHERE:
        raise CallFailed(
            str(status), f"redirected{_elsewhere(response)}, which is not followed", again=False
        )
    coding = response.headers.get("content-encoding", _IDENTITY).strip().lower()
    if coding not in ("", _IDENTITY):
        problem = "an answer that is compressed, which was not asked for"
        raise CallFailed("body", problem, again=False, maybe_billed=True)
    read = bytearray()
    async for part in response.aiter_raw():
        read += part
        if len(read) > most_bytes:
            problem = f"an answer of more than {most_bytes:,} bytes"
            raise CallFailed("body", problem, again=False, maybe_billed=True)
    # One that has its content: whoever would read it in parts can do so.
    return type(response)(
        status, headers=response.headers, content=bytes(read), request=request,
        extensions=response.extensions,
    )  # fmt: skip


def _elsewhere(response: Any) -> str:
    """Where a redirect leads, as its server wrote it."""
    try:
        to = urlsplit(response.headers.get("location", ""))
    except ValueError:
        return ""
    host = re.sub(r":\d*$", "", to.netloc.rpartition("@")[2])
    return f" to {to.scheme}://{host}" if host else ""


def retry_after(headers: Any) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        return max(0.0, seconds) if not math.isnan(seconds) else None
    try:
        date = email.utils.parsedate_tz(headers.get("retry-after", ""))
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
    except (ArithmeticError, TypeError, ValueError):
        return None
