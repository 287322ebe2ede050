"""What a tracking server sends, bounded in size: MLflow's client reads any answer to its end."""

from __future__ import annotations

import io
from typing import Any, Final

MOST_BYTES: Final = 2**26
"""Of one answer; those of a tracking server are of some kilobytes."""


class _Read(io.BytesIO):
    """An answer that was read; a session finds its cookies where they stood."""

    def __init__(self, content: bytes, raw: Any) -> None:
        super().__init__(content)
        self._original_response = getattr(raw, "_original_response", None)


def bound_answers() -> None:
    """Have MLflow's client refuse an answer that is compressed, or longer than `MOST_BYTES`.

    MLflow makes its sessions with an adapter that it names in one module and takes none from
    outside, so that name is given one of ours: the same otherwise. Again does nothing.
    """
    from mlflow.utils import request_utils
    from requests.exceptions import ContentDecodingError

    own: Any = request_utils.TCPKeepAliveHTTPAdapter
    if getattr(own, "is_bounded", False):
        return

    class Bounded(own):  # type: ignore[misc]
        is_bounded = True

        def send(self, request: Any, stream: bool = False, **options: Any) -> Any:
            request.headers["Accept-Encoding"] = "identity"
            response = super().send(request, stream=True, **options)
            try:
                coding = response.headers.get("Content-Encoding", "identity").strip().lower()
                if coding not in ("", "identity"):
                    raise ContentDecodingError("an answer that is compressed, not asked for")
                read = bytearray()
                while part := response.raw.read(2**16):
                    read += part
                    if len(read) > MOST_BYTES:
                        raise ContentDecodingError(f"an answer of more than {MOST_BYTES:,} bytes")
            except BaseException:
                response.close()
                raise
            response.raw.release_conn()
            response.raw = _Read(bytes(read), response.raw)
            return response

    vars(request_utils)["TCPKeepAliveHTTPAdapter"] = Bounded
    request_utils._cached_get_request_session.cache_clear()  # of sessions that were made before
