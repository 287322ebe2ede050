"""The same number of tokens in every domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from framework.contracts import Budget
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteSettings:
    """Settings of `budget=absolute`.

    tokens : the limit, in the project's own tokens (`framework.text.tokens`), at least 1.
    packing : what becomes of the item that no longer fits whole (see `Budget.packing`).
    """

    tokens: int = 2000
    packing: Literal["truncate", "whole"] = "truncate"

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError(f"tokens must be at least 1, {self.tokens} given")


@register("budget", "absolute")
class Absolute(Budget[AbsoluteSettings]):
    """A fixed number of tokens, whatever the domain."""

    Settings = AbsoluteSettings

    def tokens(self, domain: str, nominal_tokens: int) -> int:
        return self.settings.tokens

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        return self.settings.packing
