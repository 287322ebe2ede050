"""What a server of the Model Context Protocol sends over HTTP, bounded in size."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from httpx2 import AsyncByteStream, AsyncClient, ReadError, Request, Response

MOST_BYTES: Final = 2**26
"""Of one answer; more is no answer of a memory."""


class BoundedClient(AsyncClient):
    """Answers come as they are, and end: one that was compressed could grow to any size.

    Raises ReadError for an answer that is compressed, or longer than `MOST_BYTES`.
    refused : the status of the last request with content, where that was an error; else 0.
    """

    refused = 0

    # Not by a transport of our own, with which the environment's proxies would not be used.
    async def send(self, request: Request, *, stream: bool = False, **options: Any) -> Response:
        request.headers["accept-encoding"] = "identity"
        response = await super().send(request, stream=True, **options)
        try:
            if request.method == "POST":  # a stream of GET may be refused, and nothing fails
                self.refused = response.status_code if response.is_error else 0
            coding = response.headers.get("content-encoding", "identity").strip().lower()
            if coding not in ("", "identity"):
                raise ReadError("an answer that is compressed, which was not asked for")
            assert isinstance(response.stream, AsyncByteStream)
            response.stream = _Counted(response.stream)
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response


class _Counted(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > MOST_BYTES:
                raise ReadError(f"an answer of more than {MOST_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
