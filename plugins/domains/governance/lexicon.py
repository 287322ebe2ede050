"""The words of governed corpora, read from lexicon.yaml and wording.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from framework.text.canonical import digest_bytes

_HERE: Final = Path(__file__).parent
_FILES: Final = (_HERE / "lexicon.yaml", _HERE / "wording.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a setting is fixed at: a number from `low` to `high`, or an option.

    `text` is how sentences say it.
    """

    text: str
    low: int = 0
    high: int = 0
    option: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Something that a decision may fix: a number on a grid, or one of eight options."""

    key: str
    label: str
    unit: str = ""
    grid: tuple[int, ...] = ()
    options: tuple[str, ...] = ()

    def draw(self, rng: Random) -> Value:
        """What a decision fixes: an option, a number, or a range of two to four steps."""
        if self.options:
            option = rng.choice(self.options)
            return Value(text=option, option=option)
        width = rng.choice((0, rng.randint(2, 4)))
        at = rng.randrange(len(self.grid) - width)
        low, high = self.grid[at], self.grid[at + width]
        text = f"{low} {self.unit}" if width == 0 else f"{low} to {high} {self.unit}"
        return Value(text=text, low=low, high=high)

    def naive(self, rng: Random) -> str:
        """A value without any decision: uniform over what the setting can be."""
        return rng.choice(self.options or tuple(map(str, self.grid)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """All words.

    said : by what is stated and by form, the sentences that state it. content : the words of which
    content phrases are made.
    """

    areas: tuple[str, ...]
    nouns: Mapping[str, tuple[str, ...]]
    modifiers: tuple[str, ...]
    name_parts: tuple[tuple[str, ...], ...]
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
        first, second, kind = self.name_parts
        number, k = divmod(number, len(kind))
        i, j = divmod(number, len(second))
        return f"{first[i]} {second[j]} {kind[k]}"


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The words, read once."""
    data = [path.read_bytes() for path in _FILES]
    words: dict[str, Any] = yaml.safe_load(data[0])
    wording: dict[str, Any] = yaml.safe_load(data[1])
    settings = {
        key: Setting(key=key, label=label, unit=unit, grid=tuple(range(least, most + 1, step)))
        for key, (label, unit, least, most, step) in words["numbers"].items()
    } | {
        key: Setting(key=key, label=label, options=tuple(options))
        for key, (label, *options) in words["options"].items()
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
