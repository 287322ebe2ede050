"""Hashed words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from framework.bounds import Bounded, at_least
from framework.contracts import Embedder
from framework.registry import register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingSettings(Bounded):
    """Settings of `embedder=hashing`.

    dimension : length of a vector, at least 1. Two texts without a common word have an inner
        product of mean 0 and a standard deviation of about 1 / sqrt(dimension).
    """

    dimension: Annotated[int, at_least(1)] = 256


@register("embedder", "hashing")
class Hashing(Embedder[HashingSettings]):
    """Hashed words: similarity is overlap of words (Weinberger et al., ICML 2009).

    No encoder: it knows no synonyms, so an arm that uses it shows what such an arm does with word
    overlap, and results are marked `lexical embedder`.
    """

    kind = "lexical"
    default = True

    @property
    def dimension(self) -> int:
        return self.settings.dimension

    def made_by(self) -> tuple[Mapping[str, Any], Sequence[str]]:
        """What a vector hangs on beside its text: an index of vectors may be kept by it."""
        from framework.models import hashing

        return {"embedder": "hashing", "dimension": self.settings.dimension}, [hashing.__file__]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        from framework.models.hashing import hashed_words

        return hashed_words(texts, self.settings.dimension)
