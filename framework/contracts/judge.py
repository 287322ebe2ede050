"""Judges: whether an answer meets what is asked of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from framework.contracts.calibration import ErrorRates
from framework.contracts.configured import Configured, S
from framework.contracts.model import Client, Model
from framework.errors import UserError
from framework.records import Answer, ReasoningPoint, Standard


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's yes or no on one demand, with the words it rests on.

    supported : False where these words are not in the answer; such a verdict is not met, and
        the run counts it.
    """

    id: str
    met: bool
    evidence: str = ""
    supported: bool = True


class Judge(Configured[S], group="judge"):
    """Judges an answer. No signature carries an arm's name: a judge cannot see it."""

    kind: ClassVar[Literal["rule-based", "llm"]]

    @abstractmethod
    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Awaitable[Sequence[Verdict]] | Sequence[Verdict]:
        """Per reasoning point, whether the rationale entails it."""

    @abstractmethod
    def audit(
        self, answer: Answer, standard: Standard, client: Client
    ) -> Awaitable[Sequence[Verdict]] | Sequence[Verdict]:
        """Per checklist item of the standard, whether the answer's notice meets it."""

    def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Client
    ) -> Awaitable[Verdict] | Verdict:
        """Whether an answer to a question says what was expected, by the rule for its kind.

        `kind` is a rule of the operation `equivalent`. A judge that is never asked about answers
        to questions need not have it: it raises UserError then.
        """
        raise UserError(f"judge={self.name} does not judge answers to questions")

    @property
    def error_rates(self) -> Mapping[str, ErrorRates]:
        """How often it errs, by the method of this class where that was measured (`calibrate`).

        Raises UserError where the measurement can't be read or is of another judge.
        """
        return {}

    @property
    def model(self) -> Model[Any] | None:
        """The model that it asks of its own; None when it asks none or the run's."""
        return None

    @property
    def asks_the_runs_model(self) -> bool:
        """Whether it asks the model of the run that it judges: a judge of a model without one."""
        return self.kind == "llm" and self.model is None

    async def close(self) -> None:
        """Release connections."""
        if self.model is not None:
            await self.model.close()
