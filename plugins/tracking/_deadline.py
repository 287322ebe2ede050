"""Calls to a tracking server that end by our clock, whatever the server does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, Final, TypeVar

from framework.errors import TrackingError

T = TypeVar("T")

CALL_SECONDS: Final = 120.0
"""The longest that one call of MLflow's client may take, its own repetitions among it."""
_BYTES_A_SECOND: Final = 50_000
"""What the upload of a file takes longer."""


def within(seconds: float, server: str, call: Callable[..., T], *given: Any, **named: Any) -> T:
    """What a call gives, on a thread of its own. Raises TrackingError where it takes too long.

    The timeouts of what MLflow uses are of each read: a server that sends a byte now and then would
    hold it for ever. Ctrl-C ends the wait, and a thread that is left keeps no process alive.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call(*given, **named))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    wait([future], seconds)
    if not future.done():
        raise TrackingError(f"{server} did not answer within {seconds:g} s")
    return future.result()


class Deadlined:
    """MLflow's client of a server, each call of which has a deadline."""

    def __init__(self, client: Any, server: str) -> None:
        self._client, self._server = client, server

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            seconds = CALL_SECONDS
            if name == "log_artifact":
                seconds += Path(given[1]).stat().st_size / _BYTES_A_SECOND
            return within(seconds, self._server, getattr(self._client, name), *given, **named)

        return call
