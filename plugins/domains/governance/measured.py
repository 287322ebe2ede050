"""What a case really has of each knob, and how similar tasks are.

Similarity is the share of one text's content words that another text has. So drift is what the
generator put in: such figures are no evidence about learned
embeddings, whose drift the axis `drift` measures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from framework.records import Case
from framework.statistics.drift import kept_a_link
from plugins.domains.governance.lexicon import lexicon
from plugins.domains.governance.tasks import ticket_of

_WORD: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Similarity along a chain.

    surface : of the ticket to the record k links up, k = 0 (the entry) to depth. hops : of each
    record to the next one up. rho : what a link keeps of the similarity to the ticket; None where
    the entry has none.
    """

    surface: tuple[float, ...]
    hops: tuple[float, ...]

    @property
    def rho(self) -> float | None:
        return kept_a_link(self.surface)


def drift(ticket: str, chain: Sequence[str]) -> Drift:
    """The achieved drift from a ticket along the texts of a chain, entry first."""
    return Drift(
        surface=tuple(overlap(ticket, text) for text in chain),
        hops=tuple(overlap(a, b) for a, b in pairwise(chain)),
    )


def overlap(text: str, other: str) -> float:
    """Share of the content words of `text` that `other` has; 0 where it has none."""
    words = _content(text)
    return len(words & _content(other)) / len(words) if words else 0.0


def nearest_neighbours(cases: Sequence[Case]) -> Mapping[str, float]:
    """By case, the greatest Jaccard similarity of its ticket's words to another ticket's."""
    import numpy as np

    words = [set(_WORD.findall(ticket_of(case.task).casefold())) for case in cases]
    known = {word: i for i, word in enumerate(sorted(set().union(*words)))}
    has = np.zeros((len(cases), len(known)), dtype=np.float32)
    for row, found in enumerate(words):
        has[row, [known[word] for word in found]] = 1.0
    shared = has @ has.T
    sizes = has.sum(axis=1)
    similarity = shared / np.maximum(sizes[:, None] + sizes[None, :] - shared, 1.0)
    np.fill_diagonal(similarity, 0.0)
    nearest = similarity.max(axis=1, initial=0.0)
    return {case.id: float(value) for case, value in zip(cases, nearest, strict=True)}


def _content(text: str) -> frozenset[str]:
    """The modifiers and areas' nouns in a text."""
    return lexicon().content.intersection(_WORD.findall(text.casefold()))
