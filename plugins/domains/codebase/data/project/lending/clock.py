"""The time of the service, in seconds since 1970, which tests and rehearsals may set."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HOUR = 3600.0
DAY = 24 * HOUR

_source: Callable[[], float] = time.time


def now() -> float:
    """The present moment of the service."""
    return _source()


@contextmanager
def fixed(moment: float) -> Iterator[None]:
    """Hold the service's time at one moment."""
    global _source
    before, _source = _source, lambda: moment
    try:
        yield
    finally:
        _source = before


def days_between(start: float, end: float) -> int:
    """Whole days from one moment to a later one, at least 0."""
    return max(0, int((end - start) // DAY))


def iso_day(moment: float) -> str:
    """The day of a moment in UTC, as YYYY-MM-DD."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))
