"""A share of a history's nominal length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from framework.bounds import Bounded
from framework.contracts import Budget
from framework.registry import register
from plugins.budgets._ratio import RATIO, share


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioSettings(Bounded):
    """Settings of `budget=ratio`.

    ratio : share of the domain's `nominal_tokens`, above 0 and at most 10. LongHorizon 6.1 has
        0.5 (loose), 0.2 (moderate, its primary setting) and 0.05 (tight).
    packing : what happens to the first item that does not fit whole (see `Budget.packing`).
    """

    ratio: Annotated[float, RATIO] = 0.2
    packing: Literal["truncate", "whole"] = "truncate"


@register("budget", "ratio")
class Ratio(Budget[RatioSettings]):
    """A share of the domain's nominal tokens (LongHorizon 6.1)."""

    def tokens(self, domain: str, nominal_tokens: int) -> int:
        """The share, rounded down. Raises UserError when it is less than one token."""
        return share(self.settings.ratio, nominal_tokens, domain)

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        return self.settings.packing
