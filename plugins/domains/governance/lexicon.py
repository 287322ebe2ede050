"""The words of governed corpora, read from lexicon.yaml, aliases.yaml and wording.yaml."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from framework.text.canonical import digest_bytes

_HERE: Final = Path(__file__).parent
_FILES: Final = tuple(_HERE / f"{name}.yaml" for name in ("lexicon", "wording", "aliases"))


SCALE: Final = range(1, 61)
"""What every setting can be."""
UNIT: Final = "steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a setting is fixed at: from `low` to `high`, on `SCALE`."""

    low: int
    high: int

    @property
    def text(self) -> str:
        """How sentences say it."""
        ends = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        return f"{ends} {UNIT}"

    def admits(self, step: int) -> bool:
        """Whether the step is one of those that it is fixed at."""
        return self.low <= step <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Something that a decision may fix: its label in plans, and what else it is called."""

    key: str
    label: str
    alias: str


def draw(rng: Random) -> Value:
    """What a decision fixes: one step, or a range of three to five."""
    width = rng.choice((0, rng.randint(2, 4)))
    low = rng.choice(SCALE[: len(SCALE) - width])
    return Value(low=low, high=low + width)


def chances() -> dict[Value, Fraction]:
    """By value, the probability that `draw` gives it."""
    found: dict[Value, Fraction] = {}
    for width, share in ((0, Fraction(1, 2)), *((width, Fraction(1, 6)) for width in (2, 3, 4))):
        lows = SCALE[: len(SCALE) - width]
        found |= {Value(low=low, high=low + width): share / len(lows) for low in lows}
    return found


def best_blind() -> float:
    """The greatest probability with which one step is admitted by what `draw` gives.

    Who is shown the task alone complies no more often: what a decision fixes is drawn without
    regard to it.
    """
    return float(max(sum(p for v, p in chances().items() if v.admits(step)) for step in SCALE))


def next_blind(tried: Collection[int]) -> int:
    """The step that is admitted most probably by what `draw` gives, where none of these was.

    The least of them; the first that was not tried where nothing that `draw` gives is left.
    """
    left = {v: p for v, p in chances().items() if not any(v.admits(step) for step in tried)}
    new = [step for step in SCALE if step not in tried] or [SCALE[0]]
    return max(new, key=lambda step: (sum(p for v, p in left.items() if v.admits(step)), -step))


def decision_bits() -> float:
    """The entropy of what `draw` gives, in bits."""
    return -sum(float(p) * math.log2(p) for p in chances().values())


def naive(rng: Random) -> str:
    """A value without any decision: uniform over what a setting can be."""
    return str(rng.choice(SCALE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """All words.

    said : by what is stated and by form, the sentences that state it. content : the words of which
    content phrases are made. aliases : for each part of a name, two descriptions of every word.
    """

    areas: tuple[str, ...]
    nouns: Mapping[str, tuple[str, ...]]
    modifiers: tuple[str, ...]
    name_parts: tuple[tuple[str, ...], ...]
    aliases: tuple[Mapping[str, tuple[str, str]], ...]
    settings: Mapping[str, Setting]
    tickets: tuple[tuple[str, ...], ...]
    topics: tuple[str, ...]
    rationales: tuple[str, ...]
    said: Mapping[str, Mapping[str, tuple[str, ...]]]
    content: frozenset[str]
    digest: str

    @property
    def names(self) -> int:
        """How many records can be told apart by name."""
        first, second, kind = map(len, self.name_parts)
        return first * second * kind

    def name(self, number: int) -> str:
        """The name with this number, from 0 to `names` - 1."""
        return " ".join(self._parts(number))

    def alias(self, number: int, which: int) -> str:
        """A description of the name that shares no word with it; `which` of the two, 0 or 1."""
        parts = zip(self.aliases, self._parts(number), strict=True)
        first, second, kind = (described[part][which] for described, part in parts)
        return f"{kind} called after the {first} {second}"

    def _parts(self, number: int) -> tuple[str, str, str]:
        first, second, kind = self.name_parts
        number, k = divmod(number, len(kind))
        i, j = divmod(number, len(second))
        return first[i], second[j], kind[k]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The words, read once."""
    data = [path.read_bytes() for path in _FILES]
    words: dict[str, Any] = yaml.safe_load(data[0])
    wording: dict[str, Any] = yaml.safe_load(data[1])
    aliases: dict[str, dict[str, list[str]]] = yaml.safe_load(data[2])
    settings = {
        key: Setting(key=key, label=label, alias=alias)
        for key, (label, alias) in words["settings"].items()
    }
    nouns = {area: tuple(listed.split()) for area, listed in words["areas"].items()}
    modifiers = tuple(words["modifiers"].split())
    return Lexicon(
        areas=tuple(nouns),
        nouns=nouns,
        modifiers=modifiers,
        content=frozenset(modifiers).union(*nouns.values()),
        name_parts=tuple(
            tuple(words[part].split()) for part in ("name_first", "name_second", "name_kind")
        ),
        aliases=tuple(
            {word: (from_below, from_above) for word, (from_below, from_above) in parts.items()}
            for parts in (aliases["first"], aliases["second"], aliases["kind"])
        ),
        settings=settings,
        tickets=tuple(tuple(wording[part]) for part in ("openings", "requests", "closings")),
        topics=tuple(wording["topics"]),
        rationales=tuple(wording["rationales"]),
        said={
            what: {form: tuple(texts) for form, texts in forms.items()}
            for what, forms in wording["said"].items()
        },
        digest=digest_bytes(b"\0".join(data)),
    )
