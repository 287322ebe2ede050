"""What people in sampled sessions say and ask: two wordings of each, and the words that fill them.

The first wording of a pair is the development form, the second the held-out one: a rule-based
reader was written against the first. All of it stands in wording.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """Something of a person that has one value at a time.

    say, change, ended : the user states it, replaces it, gives it up. other : someone else's.
    assistant : the assistant names a value in general. ask, ask_first : now, and at the beginning;
    ask_other: of someone else. unit : of a number.
    """

    key: str
    items: tuple[str, ...]
    values: tuple[str, ...]
    say: Pair
    change: Pair
    ended: Pair
    other: Pair
    assistant: Pair
    ask: Pair
    ask_first: Pair
    ask_other: Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happens on a day, any number of times, each with a name of its own.

    say, plan, other : it happened, may happen, happened to someone else. again : said of one that
    was told before. Every text has {name} and, but for plans, {when}. each: how one is referred to.
    """

    key: str
    names: tuple[str, ...]
    say: Pair
    plan: Pair
    other: Pair
    again: Pair
    tally: Pair
    assistant: Pair
    ask_count: Pair
    ask_list: Pair
    ask_plan: Pair
    ask_when: Pair
    ask_ago: Pair
    ask_between: Pair
    ask_window: Pair
    ask_order: Pair
    each: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Amounts that add up, or are told as a sum that has run up so far."""

    key: str
    say: Pair
    running: Pair
    other: Pair
    ask: Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Liking:
    """What a person likes and dislikes on a topic, and a request on which it bears."""

    key: str
    likes: tuple[str, ...]
    dislikes: tuple[str, ...]
    say: Pair
    ask: Pair
    rubric: str


def _load() -> Mapping[str, Any]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


def _frozen(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()}


def _filled(templates: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, Any]:
    """The pairs with these words in their slots; the others are filled when something is said."""

    def fill(text: str) -> str:
        for slot, word in words.items():
            text = text.replace(f"{{{slot}}}", word)
        return text

    return {name: tuple(map(fill, pair)) for name, pair in templates.items()}


def _attribute(entry: Mapping[str, Any]) -> Attribute:
    values = entry["values"]
    if isinstance(values, str):
        found = tuple(_DATA[values])
    else:
        first, last, step = values
        found = tuple(map(str, range(first, last + 1, step)))
    return Attribute(**{**_frozen(entry), "values": found})


def _happening(event: Mapping[str, str], templates: Mapping[str, Any]) -> Happening:
    title = event["title"]
    words = {
        **event,
        "title": title,
        "title2": title.replace("{name}", "{other}"),
        "Title": title[0].upper() + title[1:],
    }
    texts = _filled(templates, words)
    return Happening(key=event["key"], names=tuple(_DATA["proper"]), each=title, **texts)


_DATA: Final = _load()
SHOPS: Final[tuple[str, ...]] = tuple(_DATA["shops"])
RELATIVES: Final[tuple[str, ...]] = tuple(_DATA["relatives"])
ATTRIBUTES: Final = tuple(map(_attribute, _DATA["attributes"]))
HAPPENINGS: Final = tuple(
    _happening(event, _DATA["happenings"]["templates"]) for event in _DATA["happenings"]["events"]
)
SPENDINGS: Final = tuple(
    Spending(key=key, **_filled(_DATA["spendings"]["templates"], {"key": key}))
    for key in _DATA["spendings"]["for"]
)
LIKINGS: Final = tuple(Liking(**_frozen(entry)) for entry in _DATA["likings"])
OPENERS: Final[tuple[str, ...]] = tuple(_DATA["openers"])
ASIDES: Final[tuple[str, ...]] = tuple(_DATA["asides"])
REPLIES: Final[tuple[str, ...]] = tuple(_DATA["replies"])
