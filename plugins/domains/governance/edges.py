"""Noise on typed edges: with probability 1 - fidelity an edge is not as the text states it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

from plugins.domains.governance.layout import Layout

if TYPE_CHECKING:
    from plugins.domains.governance.render import Link

KINDS: Final = ("dropped", "rewired", "mistyped", "stale")
PART_OF: Final = "part_of"
_TYPES: Final = ("implements", "derived_from", "constrains", "relates_to")
_TRIES: Final = 64


def part_of(first: str) -> tuple[tuple[str, str], ...]:
    """The edge of a record's further part to its first."""
    return ((PART_OF, first),)


def noisy(layout: Layout, record: int, links: Sequence[Link]) -> list[Link]:
    """The links as edges bear them."""
    settings = layout.settings
    if settings.fidelity == 1:
        return list(links)
    rng = layout.stream("noise", record)
    kept = []
    for link in links:
        spoilt = rng.random() >= settings.fidelity
        kind = settings.edge_noise if settings.edge_noise != "mixed" else rng.choice(KINDS)
        if not spoilt:
            kept.append(link)
        elif kind == "rewired":
            kept.append(replace(link, target=any_but(layout, (record, link.target), rng)))
        elif kind == "mistyped":
            kept.append(replace(link, relation=_other_type(link.relation, rng)))
        elif kind == "stale":
            kept.append(replace(link, target=_older(layout, record, link.target, rng)))
    return kept


def any_but(layout: Layout, barred: Sequence[int], rng: Random) -> int:
    """Any record but the barred ones."""
    for _ in range(_TRIES):
        target = rng.randrange(layout.settings.items)
        if target not in barred:
            return target
    return barred[-1]  # a corpus without a third record


def _other_type(relation: str, rng: Random) -> str:
    return rng.choice([other for other in _TYPES if other != relation])


def _older(layout: Layout, record: int, target: int, rng: Random) -> int:
    """An older record at the target's place of another chain; where none is met, any older one."""
    place, day = target - layout.chain_of(target).start, layout.day(target)
    for attempt in range(2 * _TRIES):
        chain = rng.choice(layout.chains)
        other = chain.start + (place if attempt < _TRIES else rng.randrange(chain.length))
        met = other < chain.start + chain.length and other not in (record, target)
        if met and layout.day(other) < day:
            return other
    return any_but(layout, (record, target), rng)
