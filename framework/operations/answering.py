"""Operations that answer a task from a view: what a task card names and a reader asks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.contracts import Operation, Res
from framework.errors import UserError
from framework.records import Answer, TaskCard
from framework.registry import find, nearest, plugins

UNDETERMINED: Final = "UNDETERMINED"
"""The decision of an answer whose view settles none: neither a decision nor a referral."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """The public task and the text of the view: all that an answer may rest on.

    answered : of a question in parts, the responses to the parts before this one.
    """

    task: TaskCard
    view: str
    answered: tuple[Any, ...] = ()


class AnsweringOperation(Operation[AnswerRequest, Res]):
    """An operation whose response is an answer to a task: a decision, a text, an edit, a query.

    A task card names it (`TaskCard.operation`), so that the same readers serve every domain.
    """

    def apart(self) -> Sequence[AnsweringOperation[Res]]:
        """The same question in parts, each an operation of its own; by default it is one part."""
        return (self,)

    def joined(self, responses: Sequence[Res]) -> Res:
        """One response of those to the parts, in their order."""
        return responses[-1]

    @abstractmethod
    def answer_of(self, response: Res, task: TaskCard) -> Answer:
        """The response as an answer.

        Its decision is `UNDETERMINED` where one was asked for and the view settles none.
        """


def answering(task: TaskCard) -> AnsweringOperation[Any]:
    """The operation that the card names. Raises UserError when there is no such one."""
    cls = find("operation", task.operation).cls
    if not issubclass(cls, AnsweringOperation):
        names = [p.name for p in plugins("operation") if issubclass(p.cls, AnsweringOperation)]
        raise UserError(
            f"operation {task.operation!r} does not answer a task{nearest(task.operation, names)}"
        )
    return cls()
