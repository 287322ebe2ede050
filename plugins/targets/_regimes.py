"""A target under the retrieval regimes: what those that recall evidence share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from framework.contracts import Target, Taxonomy
from framework.improve.regimes import retrieval_taxonomy, retrieval_variants

__all__ = ["RetrievalSettings", "RetrievalTarget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """Settings of every target under these regimes.

    well_ranked_k, coverage_floor : thresholds of the retrieval regimes.
    """

    well_ranked_k: int = 20
    coverage_floor: float = 0.5

    def __post_init__(self) -> None:
        if self.well_ranked_k < 1:
            raise ValueError(f"well_ranked_k: {self.well_ranked_k} given, at least 1 expected")
        if not 0 < self.coverage_floor <= 1:
            raise ValueError(f"coverage_floor: {self.coverage_floor} given, 0 to 1 expected")


S = TypeVar("S", bound=RetrievalSettings)


class RetrievalTarget(Target[S]):
    """A target whose failures are told apart by what was recalled (Regimes 5)."""

    @cached_property
    def taxonomy(self) -> Taxonomy:
        return retrieval_taxonomy(self.settings.well_ranked_k, self.settings.coverage_floor)

    @property
    def variants(self) -> Mapping[str, Taxonomy]:
        return retrieval_variants()
