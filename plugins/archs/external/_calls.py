"""A system that is asked by declared calls: what is the same, whatever they go through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

from framework.records import Event
from plugins.archs.external._mapping import AnswerPaths, Found, NoReset, Secrets, at, values_of


class Call(Protocol):
    """A declared call; `id` says where its answer has the id of what was written, or is empty."""

    @property
    def id(self) -> str:
        """A dotted path."""


C = TypeVar("C", bound=Call)


class CalledSystem(ABC, Generic[C]):
    """Writes, searches and resets by `_call`; what fails, and what is found, holds no secret."""

    __slots__ = (
        "_answer",
        "_forget",
        "_reset",
        "_search",
        "_secrets",
        "_tenant",
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

    @abstractmethod
    def _call(self, what: str, call: C, values: Mapping[str, Any]) -> Any:
        """The answer to a call filled with these values. Raises SystemFailed."""

    def write(self, event: Event) -> str | None:
        with self._secrets.hidden():
            answer = self._call(self._writes, self._write, values_of(event, self._tenant))
            return str(at(answer, self._write.id)) if self._write.id else None

    def search(self, query: str, limit: int) -> list[Found]:
        values = {"query": query, "limit": limit, "tenant": self._tenant}
        with self._secrets.hidden():
            answer = self._call("search", self._search, values)
            return self._secrets.check(self._answer.read(answer))

    def forget(self, event: Event, given: str) -> None:
        assert self._forget is not None  # it is not asked where nothing is declared
        with self._secrets.hidden():
            values = {**values_of(event, self._tenant), "given": given or None}
            self._call("forget", self._forget, values)

    def reset(self) -> None:
        if self._reset is None:
            raise NoReset
        with self._secrets.hidden():
            self._call("reset", self._reset, {"tenant": self._tenant})
