"""A share of a history's nominal length, chosen by domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from framework.bounds import Bounded
from framework.contracts import Budget
from framework.registry import register
from plugins.budgets._ratio import RATIO, share


@dataclass(frozen=True, slots=True, kw_only=True)
class PerDomainSettings(Bounded):
    """Settings of `budget=per_domain`.

    ratios : share of `nominal_tokens` by domain name, each above 0 and at most 10.
    default : the share for domains not named in `ratios`.
    packing : what happens to the first item that does not fit whole (see `Budget.packing`).
    """

    ratios: Annotated[Mapping[str, float], RATIO] = field(default_factory=dict)
    default: Annotated[float, RATIO] = 0.2
    packing: Literal["truncate", "whole"] = "truncate"


@register("budget", "per_domain")
class PerDomain(Budget[PerDomainSettings]):
    """A share of the domain's nominal tokens, set for each domain."""

    def tokens(self, domain: str, nominal_tokens: int) -> int:
        """The domain's share, rounded down. Raises UserError when it is less than one token."""
        ratio = self.settings.ratios.get(domain, self.settings.default)
        return share(ratio, nominal_tokens, domain)

    @property
    def packing(self) -> Literal["truncate", "whole"]:
        return self.settings.packing
