"""What the chains of a corpus are about and what their records fix.

A record has eight content phrases. The entry keeps each phrase of the ticket with probability
`visibility`, every further record each phrase of the one before with probability `rho`; what is not
kept is drawn again from an area of the record's own, another for every place. So the expected
overlap of the record k links up with the ticket is visibility * rho^k (Depth assumption 4). A
look-alike starts from some of the same phrases, the others being of the ticket's area, and passes
through the same areas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final

from plugins.domains.governance.layout import Chain, Layout
from plugins.domains.governance.lexicon import Lexicon, Setting, Value, draw, naive

PHRASES: Final = 8
OPEN: Final = 2
"""Settings of a plan whose value is only proposed; as many again are asked for."""

Phrases = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A setting of a task's plan: its value without any decision, and whether it is asked for."""

    setting: Setting
    value: str
    asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a chain says.

    surface : phrases of the ticket. areas : of the ticket, then of each place. phrases, fixed : by
    place in the chain, content phrases and what the record fixes. plan : empty but for a gold
    chain. held_out : whether its statements are worded in held-out forms.
    """

    surface: Phrases
    areas: tuple[str, ...]
    phrases: tuple[Phrases, ...]
    fixed: tuple[tuple[Setting, Value], ...]
    plan: tuple[Planned, ...] = ()
    governed: Setting
    held_out: bool


class Contents:
    """The contents of a corpus by chain, made as they are asked for."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._of = lru_cache(maxsize=4096)(self._make)
        self._gold = {c.task: c for c in layout.chains if c.role == "gold"}
        settings = tuple(layout.words.settings.values())
        self._pool = layout.stream("labels").sample(settings, layout.settings.labels)

    def of(self, chain: Chain) -> Content:
        """What the chain says."""
        return self._of(chain)

    def _make(self, chain: Chain) -> Content:
        layout, words = self._layout, self._layout.words
        settings = layout.settings
        rng = layout.stream("content", chain.index)
        model = self.of(self._gold[chain.task]) if chain.role == "look_alike" else None
        if model is None:
            areas = tuple(rng.sample(words.areas, chain.depth + 2))
            surface = _drift(words, ("",) * PHRASES, 0.0, areas[0], rng)
            held_out = settings.forms == "held_out" or (
                settings.forms == "mixed" and rng.random() < 0.5
            )
        else:
            areas, held_out = model.areas, model.held_out
            surface = _drift(words, model.surface, settings.similarity, areas[0], rng)
        phrases = [_drift(words, surface, settings.visibility, areas[1], rng)]
        for place in range(1, chain.depth + 1):
            phrases.append(_drift(words, phrases[-1], settings.rho, areas[place + 1], rng))
        phrases += [phrases[-1]] * (chain.versions - 1)
        plan: tuple[Planned, ...] = ()
        if chain.role == "gold":
            plan = _plan(self._pool, rng)
            governed = rng.choice(_open(plan))
        else:
            governed = rng.choice(self._pool) if model is None else self._copied(chain, model)
        barred = {p.setting.key for p in (model.plan if model else plan)} | {governed.key}
        others = [setting for setting in self._pool if setting.key not in barred]
        fixed = [(s, draw(rng)) for s in (rng.choice(others) for _ in range(chain.depth))]
        used: tuple[Value, ...] = ()
        if model is not None and governed == model.governed:
            used = (model.fixed[-1][1],)
        for _ in range(chain.versions):
            fixed.append((governed, _other(used, rng)))
            used = (*used, fixed[-1][1])
        return Content(
            surface=surface,
            areas=areas,
            phrases=tuple(phrases),
            fixed=tuple(fixed),
            plan=plan,
            governed=governed,
            held_out=held_out,
        )

    def _copied(self, chain: Chain, model: Content) -> Setting:
        """What a look-alike fixes: the governed setting of its task or the other open one.

        With the gold chain each of the two is fixed as often, or by the toss of a coin one of them
        once more: which one governs can't be told by how many records fix it.
        """
        most = self._layout.settings.distractors
        place = chain.index - len(self._gold) - chain.task * most
        other = next(s for s in _open(model.plan) if s != model.governed)
        coin = self._layout.share("coin", chain.task) < 0.5
        others = (most + 1) // 2 + (coin and most % 2 == 0)
        return other if place < others else model.governed


def _open(plan: Sequence[Planned]) -> list[Setting]:
    """The settings of a plan whose value is only proposed."""
    return [planned.setting for planned in plan if not planned.asked]


def _drift(words: Lexicon, before: Phrases, kept: float, area: str, rng: Random) -> Phrases:
    """The phrases, each kept with probability `kept`, else new from the area; no noun twice."""
    keeps = [rng.random() < kept for _ in before]
    nouns = {phrase.rpartition(" ")[2] for phrase, keep in zip(before, keeps, strict=True) if keep}
    fresh = [noun for noun in words.nouns[area] if noun not in nouns]
    rng.shuffle(fresh)
    return tuple(
        phrase if keep else f"{rng.choice(words.modifiers)} {fresh.pop()}"
        for phrase, keep in zip(before, keeps, strict=True)
    )


def _plan(pool: Sequence[Setting], rng: Random) -> tuple[Planned, ...]:
    """Settings of a change plan in random order; values are independent of what decisions say."""
    chosen = rng.sample(pool, 2 * OPEN)
    plan = [Planned(setting=s, value=naive(rng), asked=i >= OPEN) for i, s in enumerate(chosen)]
    rng.shuffle(plan)
    return tuple(plan)


def _other(used: Sequence[Value], rng: Random) -> Value:
    """A value that no value used before admits or is admitted by."""
    while True:
        value = draw(rng)
        if not any(overlap(value, other) for other in used):
            return value


def overlap(a: Value, b: Value) -> bool:
    """Whether some step is admitted by both."""
    return a.low <= b.high and b.low <= a.high
