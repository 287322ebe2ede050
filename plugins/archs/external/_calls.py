"""A system that is asked by declared calls: what is the same, whatever they go through."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from framework.records import Event
from plugins.archs.external._keys import Secrets
from plugins.archs.external._mapping import (
    AnswerPaths,
    Found,
    NoReset,
    SystemFailed,
    at,
    uses,
    values_of,
)

_EVERY_S: Final = 1.0
"""Between two questions whether what was written can be found."""


class Call(Protocol):
    """A declared call; `id` says where its answer has the id of what was written, or is empty."""

    @property
    def id(self) -> str:
        """A dotted path."""

    @property
    def filled(self) -> Any:
        """What has placeholders."""


C = TypeVar("C", bound=Call)


class CalledSystem(ABC, Generic[C]):
    """Writes, searches and resets by `_call`; what fails, and what is found, holds no secret."""

    __slots__ = (
        "_answer",
        "_deleted",
        "_forget",
        "_reset",
        "_search",
        "_secrets",
        "_settle",
        "_tenant",
        "_unsettled",
        "_until",
        "_within_s",
        "_write",
        "_writes",
    )

    def __init__(self, settings: Any, tenant: str) -> None:
        self._tenant, self._secrets = tenant, Secrets(settings)
        self._writes: str = settings.writes
        self._write: C = getattr(settings, self._writes)
        self._search: C = settings.search
        self._reset: C | None = settings.reset
        self._forget: C | None = settings.forget
        self._answer: AnswerPaths = settings.answer
        self._settle: C | None = settings.settle
        self._until: Mapping[str, Any] = settings.until
        self._within_s: float = settings.timeout_seconds
        self._unsettled: list[str] = []
        self._deleted: set[str] = set()

    @abstractmethod
    def _call(self, what: str, call: C, values: Mapping[str, Any]) -> Any:
        """The answer to a call filled with these values. Raises SystemFailed."""

    def write(self, event: Event) -> str | None:
        with self._secrets.hidden():
            answer = self._call(self._writes, self._write, values_of(event, self._tenant))
            path, whose = self._write.id, f"{self._writes}.id: the answer"
            given = str(at(answer, path, whose)) if path else None
            self._deleted.discard(given or "")
            if self._settle is not None:
                self._unsettled.append(given or "")
            return given

    def search(self, query: str, limit: int) -> list[Found]:
        values = {"query": query, "limit": limit, "tenant": self._tenant}
        with self._secrets.hidden():
            self._wait_until_settled()
            answer = self._call("search", self._search, values)
            return self._secrets.check(self._answer.read(answer))

    def _wait_until_settled(self) -> None:
        """Wait for what was written since it was last asked for, as the mapping says how."""
        if self._settle is None:
            return
        one_by_one = uses(self._settle.filled, "given")
        written, self._unsettled = self._unsettled, []
        for given in written if one_by_one else written[-1:]:
            end = time.monotonic() + self._within_s
            while not self._is_settled(self._settle, given):
                if time.monotonic() >= end:
                    said = f"not {dict(self._until)} within {self._within_s:g} s"
                    raise SystemFailed(f"settle: {given}: {said}" if given else f"settle: {said}")
                time.sleep(_EVERY_S)

    def _is_settled(self, settle: C, given: str) -> bool:
        answer = self._call("settle", settle, {"tenant": self._tenant, "given": given})
        until = self._until.items()
        return all(at(answer, path, "until: the answer") == value for path, value in until)

    def forget(self, event: Event, given: str) -> None:
        assert self._forget is not None  # it is not asked where nothing is declared
        by_given = uses(self._forget.filled, "given")
        with self._secrets.hidden():
            if by_given and not given:
                raise SystemFailed(f"forget: {event.id} was given no id, and {{given}} asks for it")
            self._wait_until_settled()  # what is not there yet can't be deleted
            if by_given and given in self._deleted:  # one memory of several events
                return
            values = {**values_of(event, self._tenant), "given": given or None}
            self._call("forget", self._forget, values)
            self._deleted.add(given)

    def expect(self, question: bytes, answer: bytes) -> None:
        """Nothing is left of it: its connection is the run's."""

    def reset(self) -> None:
        if self._reset is None:
            raise NoReset
        with self._secrets.hidden():
            self._call("reset", self._reset, {"tenant": self._tenant})
            self._unsettled, self._deleted = [], set()
