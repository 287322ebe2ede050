"""Check that a view holds what a decision needs, before it is taken (LongHorizon 7.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from framework.operations._card import card_text
from framework.operations.prompted import PromptedOperation
from framework.records import TaskCard
from framework.registry import register

Strictness = Literal["strict", "moderate", "permissive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessRequest:
    """The task card, the text of the view, and how much must be known (see `CheckCompleteness`)."""

    task: TaskCard
    view: str
    strictness: Strictness


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessResponse:
    """What is wanting, each gap one thing; none where the view is complete."""

    gaps: tuple[str, ...] = ()


@register("operation", "check_completeness")
class CheckCompleteness(PromptedOperation[CompletenessRequest, CompletenessResponse]):
    """Say whether a view is complete enough to decide on, and what is missing.

    permissive : the decision is determined by what is seen.
    moderate : also, the rules in force are listed and all seen, and everything that the rules up
        to the deciding one compare, and the amount's formula reads, is known.
    strict : also, every field of the answer form is known. Known means one value, no conflict.
    """

    response = CompletenessResponse
    slots = frozenset({"task", "record", "demand"})

    def fill(self, request: CompletenessRequest) -> Mapping[str, str]:
        return {
            "task": card_text(request.task),
            "record": request.view,
            "demand": self.rule(request.strictness),
        }
