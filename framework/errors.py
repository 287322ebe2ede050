"""Errors that speak to the person who runs the benchmark.

A mistake of the user ends the process with exit status 2 and one line, without a traceback. Every
other exception is ours: a bug, with its traceback, exit status 1.
"""

from __future__ import annotations

import errno
import os
from typing import Any, Final

__all__ = [
    "DataError",
    "DoesNotFit",
    "ModelError",
    "NotOffered",
    "StopRun",
    "TrackingError",
    "UnreadableError",
    "UserError",
    "of_a_place",
]


class UserError(Exception):
    """The user's mistake, told in one line: what was given, what is allowed.

    Line breaks in the message become spaces, so that one mistake is one line in any log.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


class DataError(UserError):
    """A bad record in a file, told as ``FILE:LINE: what is wrong``.

    `line` counts from 1; ``None`` means the file as a whole, told as ``FILE: what is wrong``.
    """

    def __init__(self, file: str | os.PathLike[str], line: int | None, problem: str) -> None:
        self.file = os.fspath(file)
        self.line = line
        self.problem = problem
        place = self.file if line is None else f"{self.file}:{line}"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self) -> tuple[type[DataError], tuple[str, int | None, str]]:
        # The default rebuilds from the message alone, which fails on the way back from a worker.
        return type(self), (self.file, self.line, self.problem)


_OF_A_PLACE: Final = frozenset(
    {errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.ENOSPC, errno.EPERM, errno.EROFS}
)


def of_a_place(error: BaseException) -> UserError | None:
    """What is wrong with the place that files are in, as a full disk; None for another error."""
    if not isinstance(error, OSError) or not (
        error.errno in _OF_A_PLACE or str(error.strerror).startswith("No usable temporary")
    ):
        return None
    return UserError(f"{error.filename or 'a file'}: {error.strerror}")


class TrackingError(Exception):
    """The tracking server could not be reached or refused; the run directory is complete."""


class ModelError(Exception):
    """A call to a model that failed for good: the case becomes a row with this error.

    Names the operation and the provider's status (`429`, `connection`, `refused`), and holds what
    was paid for on the way, a `framework.records.Usage` or None.
    """

    def __init__(self, operation: str, status: str, problem: str, usage: Any = None) -> None:
        super().__init__(f"{operation}: {status}: {problem}")
        self.operation = operation
        self.status = status
        self.usage = usage


class UnreadableError(ValueError):
    """A response that could not be read, nor its repair; holds what both took and the last text."""

    def __init__(self, message: str, *, text: str = "", usage: Any = None) -> None:
        super().__init__(message)
        self.text = text
        self.usage = usage


class NotOffered(Exception):
    """Why nothing was asked of a case, where that is no failure: its row's `state` says it."""


class DoesNotFit(NotOffered):
    """A prompt that a model's context does not hold: nothing was asked, and nothing cut off.

    needs, context : tokens, those of the longest answer included. usage : what the case took
    before, a `framework.records.Usage`.
    """

    def __init__(self, needs: int, context: int, usage: Any = None) -> None:
        super().__init__(f"does not fit: {needs:,} of {context:,} tokens")
        self.needs = needs
        self.context = context
        self.usage = usage


class StopRun(Exception):
    """Nothing more may be asked in this run: a spending cap, a refused key, a miss in a replay.

    The run ends cleanly, with what was measured so far, and can be resumed.
    """
