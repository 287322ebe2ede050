"""Records as sentences, sentences as events."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Final

from framework.records import EMPTY, Event
from plugins.domains.governance.content import Contents
from plugins.domains.governance.edges import noisy, part_of
from plugins.domains.governance.layout import PARTS, Chain, Layout
from plugins.domains.governance.lexicon import Setting, Value

RELATIONS: Final = ("implements", "derived_from", "constrains")
"""Relations along the path. `constrains` is stated by the upper record, the others by the lower."""
SUPERSEDES: Final = "supersedes"
ASSOCIATION: Final = "relates_to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A statement of one record about another."""

    relation: str
    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A record in words. Every sentence names the record, so that it can stand alone.

    said : by what it states (`component`, `constraint`, `mark:1`, `up`, `down`, ...), its sentence
        and the part (from 0) that it stands in. parts : the texts of its events.
    """

    said: dict[str, tuple[str, int]]
    parts: tuple[str, ...]


class Writer:
    """Writes the records of one corpus; each follows from its number alone."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents
        self._said = layout.words.said

    def links(self, record: int) -> dict[str, Link]:
        """What the record states of others: `up`, `down`, `older`, `near:1`, ..."""
        layout = self._layout
        links: dict[str, Link] = {}
        if (up := layout.up(record)) is not None:
            relation = self.relation(record)
            if relation != "constrains":
                links["up"] = Link(relation=relation, target=up)
        if (down := layout.down(record)) is not None and self.relation(down) == "constrains":
            links["down"] = Link(relation="constrains", target=down)
        if (older := layout.older_version(record)) is not None:
            links["older"] = Link(relation=SUPERSEDES, target=older)
        rng = layout.stream("near", record)
        for i in range(rng.choice((1, 2))):
            target = rng.randrange(layout.settings.items)
            if target != record:
                links[f"near:{i}"] = Link(relation=ASSOCIATION, target=target)
        return links

    def fixed(self, record: int) -> tuple[Setting, Value]:
        """What the record fixes, and at what."""
        chain = self._layout.chain_of(record)
        return self._contents.of(chain).fixed[record - chain.start]

    def edges(self, record: int) -> list[Link]:
        """The links that are edges too, as those bear them."""
        if self._layout.settings.capture != "linked":
            return []
        return noisy(self._layout, record, list(self.links(record).values()))

    def relation(self, lower: int) -> str:
        """The relation between a record and the next one up."""
        return RELATIONS[int(len(RELATIONS) * self._layout.share("relation", lower))]

    def tie(self, lower: int) -> tuple[int, str]:
        """The record that states the link up from `lower`, and under what it is said there."""
        if self.relation(lower) != "constrains":
            return lower, "up"
        upper = self._layout.up(lower)
        assert upper is not None
        return upper, "down"

    def write(self, record: int) -> Written:
        """The record's sentences, dealt to its parts."""
        layout = self._layout
        chain = layout.chain_of(record)
        rng = layout.stream("words", record)
        said = self._sentences(record, chain, rng)
        topic, *rest = said
        rng.shuffle(rest)
        settings = layout.settings
        if settings.capture == "raw":
            rest = [topic, *rest]
            rng.shuffle(rest)
            dealt = [[what] for what in rest]
        else:
            dealt = _deal(topic, rest, settings.scatter)
        assert len(dealt) <= PARTS
        return Written(
            said={what: (said[what], part) for part, group in enumerate(dealt) for what in group},
            parts=tuple(" ".join(said[what] for what in group) for group in dealt),
        )

    def events(self, record: int) -> list[Event]:
        """The record's events. Edges are on its first, and lead to the first of another record."""
        layout, settings = self._layout, self._layout.settings
        written = self.write(record)
        edges = tuple((link.relation, layout.event_id(link.target)) for link in self.edges(record))
        first = layout.event_id(record)
        linked = settings.capture == "linked"
        return [
            Event(
                id=layout.event_id(record, part),
                text=text,
                time=layout.time(record, part),
                kind="message" if settings.capture == "raw" else "decision",
                metadata=EMPTY,
                edges=edges if part == 0 else part_of(first) if linked else (),
            )
            for part, text in enumerate(written.parts)
        ]

    def _sentences(self, record: int, chain: Chain, rng: Random) -> dict[str, str]:
        layout, words = self._layout, self._layout.words
        content = self._contents.of(chain)
        place = record - chain.start
        name = layout.name(record)
        phrases = list(content.phrases[place])
        rng.shuffle(phrases)
        form = "held_out" if content.held_out else "development"

        def say(what: str, **filled: str) -> str:
            return rng.choice(self._said[what][form]).format(**filled)

        said = {
            "topic": _first_upper(rng.choice(words.topics).format(*phrases, name=name)),
            "rationale": _first_upper(rng.choice(words.rationales).format(*phrases)),
            "component": say("component", component=layout.component(record), name=name),
        }
        for what, link in self.links(record).items():
            # A record is called one way from below and the other from above: else those at both
            # sides of it would share an alias, and a search for that would lead past it.
            near = what.startswith("near") and layout.share("called", record, what) < 0.5
            called = layout.called(link.target, what in ("down", "older") or near)
            said[what] = say(link.relation, source=name, target=called)
        setting, value = self.fixed(record)
        texts = [*_marks(layout.settings.scatter - 1, rng), value.text]
        first = texts[0] if len(texts) == 1 else f"mark {texts[0]}"
        said["constraint"] = say("constraint", name=name, label=layout.label(setting), value=first)
        for i, (mark, meant) in enumerate(pairwise(texts), start=1):
            meaning = meant if i == len(texts) - 1 else f"mark {meant}"
            said[f"mark:{i}"] = say("mark", mark=mark, name=name, value=meaning)
        return said


def _marks(n: int, rng: Random) -> list[str]:
    """`n` different marks, as K7."""
    return [f"{letter}{rng.randint(1, 9)}" for letter in rng.sample("ABCDEFGHJKLMNPQRSTUVWXYZ", n)]


def _deal(topic: str, rest: list[str], parts: int) -> list[list[str]]:
    """What goes into which part: one each of what says what is fixed, the others in turn."""
    needed = [what for what in rest if what == "constraint" or what.startswith("mark:")]
    others = [what for what in rest if what not in needed]
    dealt = [[what] for what in needed]
    if parts == 1:
        return [[topic, *rest]]
    dealt[0].insert(0, topic)
    for turn, what in enumerate(others, start=1):
        dealt[turn % parts].append(what)
    return dealt


def _first_upper(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
