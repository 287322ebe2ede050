"""Rules: how a rule-based model answers an operation, from the request alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, Literal

from framework.contracts.model import Operation, Req, Res
from framework.errors import StopRun, UserError
from framework.registry import find


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How a rule-based model reads (docs/reference/validity.md section 1).

    schema : knows the task card's field labels and aliases.
    blind : knows no label: generic label-value and date extraction.
    noisy : as schema, but misses a statement or confuses its value at the given rates, decided by
        a hash of the statement and `seed`, so that the same text is always read the same way.
    follows_injections : obeys instructions found in the record: a positive control.
    """

    style: Literal["schema", "blind", "noisy"] = "schema"
    miss_rate: float = 0.0
    confuse_rate: float = 0.0
    seed: int = 0
    follows_injections: bool = False


PLAIN: Final = Profile()
"""Knows the labels, misses nothing, follows no injection."""


class Rule(ABC, Generic[Req, Res]):
    """The rule-based answer to one operation, registered under the operation's name.

    It stands beside its operation or in a package of its own, and needs no change of any model::

        @register("rule", "headline")
        class HeadlineRule(Rule[HeadlineRequest, str]):
            def answer(self, request: HeadlineRequest, profile: Profile) -> str: ...
    """

    name: ClassVar[str]

    @abstractmethod
    def answer(self, request: Req, profile: Profile) -> Res:
        """The response, deterministic in its arguments."""


def answer_by_rule(operation: Operation[Req, Res], request: Req, profile: Profile = PLAIN) -> Res:
    """The rule-based response to an operation.

    Raises StopRun where the operation has no rule: no case of the run can be answered.
    """
    try:
        rule: Rule[Req, Res] = find("rule", operation.name).cls()
    except UserError as error:
        raise StopRun(
            f"the operation {operation.name!r} has no rule to answer it: {error}"
        ) from None
    return rule.answer(request, profile)
