"""Answers of known truth, by which a judge's error is measured."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from framework.contracts.configured import Configured, S


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """An answer to a question, and whether it is right.

    kind : the rule by which it is right (`Judge.equivalent`). sort : what is right or wrong about
    it, as `hedged`. recorded : what another judge said of it when the set was made, where one did.
    """

    question: str
    expected: str
    given: str
    right: bool
    sort: str
    kind: str = "answer"
    recorded: bool | None = None


class CalibrationSet(Configured[S]):
    """Answers that a judge is tried with; `calibrate JUDGE --set NAME` does.

    prompts : the shipped prompt set whose rules its kinds are of; empty for the default one.
    """

    prompts: ClassVar[str] = ""

    @abstractmethod
    def answers(self) -> Iterator[KnownAnswer]:
        """Each answer once, in a settled order. Raises UserError where there is no data."""
