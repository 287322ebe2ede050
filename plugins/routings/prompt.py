"""Prompt only: no diagnosis, and the reader's prompt is all that may be edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from framework.bounds import Bounded, at_least
from framework.contracts import Diagnosis, Route, Routing
from framework.contracts.improve import Seam
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings(Bounded):
    """Settings of `routing=prompt`. drafts : of which the best on OPTIMIZE goes on."""

    drafts: Annotated[int, at_least(1)] = 1


@register("routing", "prompt")
class PromptOnly(Routing[PromptSettings]):
    """Control: shows any failures without labels, and allows only the prompt optimizers' seam."""

    probes: ClassVar[bool] = True

    def choose(self, diagnosis: Diagnosis) -> Route | None:
        seam: Seam = "reader_prompt"
        if not diagnosis.open or seam not in diagnosis.seams:
            return None
        return Route(regime="", seams=(seam,) * self.settings.drafts)
