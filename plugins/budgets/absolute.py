"""The same number of tokens in every domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from framework.bounds import Bounded, at_least
from framework.contracts import Budget
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteSettings(Bounded):
    """Settings of `budget=absolute`.

    tokens : the limit, in the project's own tokens (`framework.text.tokens`), at least 1.
    packing : what happens to the first item that does not fit whole (see `Budget.packing`).
    """

    tokens: Annotated[int, at_least(1)] = 2000
    packing: Literal["truncate", "whole"] = "truncate"


@register("budget", "absolute")
class Absolute(Budget[AbsoluteSettings]):
    """A fixed number of tokens, the same for every domain."""

    def tokens(self, domain: str, nominal_tokens: int) -> int:
        return self.settings.tokens

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        return self.settings.packing
