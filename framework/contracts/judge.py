"""Judges: whether an answer meets what is asked of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from framework.contracts.model import Client
from framework.records import (
    Answer,
    ReasoningPoint,
    Standard,
)
from framework.registry import NoSettings

S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's yes or no on one demand, with the words it rests on."""

    id: str
    met: bool
    evidence: str = ""


class Judge(ABC, Generic[S]):
    """Judges an answer. No signature carries an arm's name: a judge cannot see it."""

    name: ClassVar[str]
    kind: ClassVar[Literal["rule-based", "llm"]]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Awaitable[Sequence[Verdict]] | Sequence[Verdict]:
        """Per reasoning point, whether the rationale entails it."""

    @abstractmethod
    def audit(
        self, answer: Answer, standard: Standard, client: Client
    ) -> Awaitable[Sequence[Verdict]] | Sequence[Verdict]:
        """Per checklist item of the standard, whether decision, rationale and notice meet it."""
