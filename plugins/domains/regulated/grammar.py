"""Compositional text: sentence templates whose slots are lists, amounts, numbers or dates.

A template is plain text with `{slot}`; `{Slot}` capitalises what it stands for. A list slot's
entries are templates themselves, so a few dozen lines make many thousands of sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from random import Random
from typing import Annotated, Final

from framework.bounds import Bounded, at_least

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
Day = date
_MONTH: Final = "month"
_BUILT_IN: Final = frozenset({_MONTH})


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Bounded):
    """A slot of numbers from the first to the second, in steps: of one of three kinds.

    money : in dollars. number : as it is. date : days from intake.
    """

    money: tuple[int, int] | None = None
    number: tuple[int, int] | None = None
    date: tuple[int, int] | None = None
    step: Annotated[int, at_least(1)] = 1

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        given = [pair for pair in (self.money, self.number, self.date) if pair]
        if len(given) != 1 or given[0][0] > given[0][1]:
            raise ValueError("money, number or date: one range [low, high] expected")

    def draw(self, rng: Random, day: Day) -> str:
        """One of the numbers, as text."""
        low, high = self.money or self.number or self.date or (0, 0)
        number = low + self.step * int(rng.random() * ((high - low) // self.step + 1))
        if self.money:
            return f"${number:,}"
        return (day + timedelta(days=number)).isoformat() if self.date else str(number)


Slots = Mapping[str, tuple[str, ...] | Range]


def placeholders(template: str) -> tuple[str, ...]:
    """Names of the slots of a template, in order."""
    return tuple(_PLACEHOLDER.findall(template))


@dataclass(frozen=True, slots=True)
class Grammar:
    """The slots of a domain. `cast` slots are drawn once a case, `slots` each time."""

    slots: Slots
    cast: Slots

    def __contains__(self, name: str) -> bool:
        return name.lower() in self.names

    @property
    def names(self) -> frozenset[str]:
        """Names that a template may use, in lower case."""
        return frozenset({*self.slots, *self.cast, *_BUILT_IN})

    @staticmethod
    def templates(slots: Slots) -> Iterator[tuple[str, str]]:
        """(slot, template) for every entry of every list."""
        for name, entries in slots.items():
            if not isinstance(entries, Range):
                for entry in entries:
                    yield name, entry

    def cast_of(self, rng: Random, intake: date) -> dict[str, str]:
        """The case's own names, addresses and numbers."""
        cast: dict[str, str] = {}
        for name in self.cast:
            cast[name] = self._draw(self.cast[name], rng, intake, cast)
        return cast

    def say(self, template: str, rng: Random, day: date, cast: Mapping[str, str]) -> str:
        """A sentence: the template with every slot sampled."""
        pieces: list[str] = []
        for literal, key, capital in _pieces(template):
            pieces.append(literal)
            if key:
                if key in cast:
                    text = cast[key]
                elif key == _MONTH:
                    text = f"{day:%B %Y}"
                else:
                    text = self._draw(self.slots[key], rng, day, cast)
                pieces.append(text[:1].upper() + text[1:] if capital else text)
        return "".join(pieces)

    def _draw(
        self, slot: tuple[str, ...] | Range, rng: Random, day: date, cast: Mapping[str, str]
    ) -> str:
        if isinstance(slot, Range):
            return slot.draw(rng, day)
        entry = slot[int(rng.random() * len(slot))]
        return self.say(entry, rng, day, cast) if "{" in entry else entry


@lru_cache(maxsize=1 << 14)
def _pieces(template: str) -> tuple[tuple[str, str, bool], ...]:
    """Each text before a slot, the slot's key ("" after the last) and whether it is capitalised."""
    texts, names = _PLACEHOLDER.split(template)[::2], [*placeholders(template), ""]
    return tuple(
        (text, name.lower(), name[:1].isupper()) for text, name in zip(texts, names, strict=True)
    )
