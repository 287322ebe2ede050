"""One drawn chat history: sessions on given days, what is said in them, and the talk around it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from typing import Final, TypeVar

from plugins.domains.longmemeval.days import spoken, stamp
from plugins.domains.longmemeval.records import Session, Turn
from plugins.domains.longmemeval.wording import (
    ASIDES,
    ATTRIBUTES,
    HAPPENINGS,
    LIKINGS,
    OPENERS,
    RELATIVES,
    REPLIES,
    SHOPS,
    SPENDINGS,
    Attribute,
    Pair,
)

T = TypeVar("T")

_SPAN: Final = 120
"""Days before the question within which the sessions lie."""
_FIRST_DAY: Final = date(2022, 6, 1)
EXCHANGES: Final = 2
"""Exchanges of a session where nothing else is asked for."""
_TALKATIVE: Final = 0.6
"""Share of the user's other turns with an aside that has nothing to do with the question."""
_GENERAL: Final = 0.25
"""Share of the assistant's other turns with something of the kind."""


@dataclass(slots=True)
class _Said:
    text: str
    role: str
    gold: bool
    part: int


@dataclass(slots=True)
class Scene:
    """A history in the making. `form` is 0 for development wordings, 1 for held-out ones.

    wording : where what is worded is drawn from; None for the scene's own stream. Another stream
        gives the same scene in other words: the talk around what is told, the remarks in between,
        and how days are told. What is told, by whom, in which turn, stays.
    exchanges : of a session at least; one with more to tell has more.
    topics : what was told of, which the talk around it leaves alone. part : the number of what is
        being told: one part is asked about, and the others are there all the same.
    """

    rng: random.Random
    form: int
    asked_on: date
    days: tuple[date, ...]
    wording: random.Random | None = None
    exchanges: int = EXCHANGES
    topics: list[tuple[str, str]] = field(default_factory=list)
    part: int = 0
    _said: dict[int, list[_Said]] = field(default_factory=dict)

    @classmethod
    def draw(
        cls,
        rng: random.Random,
        form: int,
        sessions: int,
        wording: random.Random | None = None,
        exchanges: int = EXCHANGES,
    ) -> Scene:
        """A scene whose sessions lie on different days before that of the question."""
        asked_on = _FIRST_DAY + timedelta(days=rng.randrange(700))
        ago = sorted(rng.sample(range(1, _SPAN + 1), sessions), reverse=True)
        days = tuple(asked_on - timedelta(days=n) for n in ago)
        return cls(rng, form, asked_on, days, wording, exchanges)

    def word(self, pair: Pair, **slots: object) -> str:
        """The wording of the scene's form with its slots filled."""
        return pair[self.form].format(**slots)

    def places(self, n: int) -> list[int]:
        """`n` different sessions in order of time."""
        return sorted(self.rng.sample(range(len(self.days)), n))

    def relative(self) -> str:
        """Someone that the user knows."""
        return self.rng.choice(RELATIVES)

    def tell(self, session: int, text: str, *, role: str = "user", gold: bool = False) -> None:
        """Have something said in a session."""
        self._said.setdefault(session, []).append(_Said(text, role, gold, self.part))

    def ask_about(self, part: int) -> None:
        """Take as gold what was told for that part alone."""
        for told in self._said.values():
            for said in told:
                said.gold = said.gold and said.part == part

    def free(self, items: Iterable[T], topic: Callable[[T], tuple[str, str]]) -> list[T]:
        """Those of `items` on a topic that the history has not had yet."""
        return [item for item in items if topic(item) not in self.topics]

    def day(self, session: int) -> date:
        """A day on which something told in a session may have happened: half the time its own."""
        ago = 0 if self.rng.random() < 0.5 else self.rng.randint(1, 21)
        return self.days[session] - timedelta(days=ago)

    def spoken(self, day: date, session: int) -> str:
        """How a day is told in a session."""
        return self._worded(lambda rng: spoken(day, self.days[session], rng))

    def sessions(self, ids: Callable[[int, bool], str]) -> tuple[Session, ...]:
        """The sessions with everything told, each thing in a turn of its own, and talk around it.

        ids : a session's id from its place and whether it holds something gold.
        """
        found = []
        for place, day in enumerate(self.days):
            told = self._said.get(place, [])
            self.rng.shuffle(told)
            turns: list[Turn] = []
            for said in told:
                turns += self._worded(partial(self._exchange, said))
            while len(turns) < 2 * self.exchanges:
                # In front of or behind what is told, so that its place in a session tells nothing.
                at = self.rng.choice((0, len(turns)))
                turns[at:at] = self._worded(partial(self._exchange, None))
            gold = any(said.gold for said in told)
            minute = self.rng.randrange(24 * 60)
            found.append(
                Session(
                    id=ids(place, gold), date=stamp(day, minute), turns=tuple(turns), is_gold=gold
                )
            )
        return tuple(found)

    def _worded(self, say: Callable[[random.Random], T]) -> T:
        """What `say` makes of the stream of wordings.

        The scene's own stream goes on as if it had been asked, so that all else stays as it is.
        """
        own = say(self.rng)
        return own if self.wording is None else say(self.wording)

    def _exchange(self, said: _Said | None, rng: random.Random) -> list[Turn]:
        user, reply = rng.choice(OPENERS), rng.choice(REPLIES)
        gold = ""
        if said is None:
            if rng.random() < _TALKATIVE:
                user = f"{user} {self._aside(self._chatter(rng), rng)}"
            if rng.random() < _GENERAL:
                reply = f"{reply} {self._general(rng)}"
        else:
            gold = said.role if said.gold else ""
            if said.role == "assistant":
                reply = f"{reply} {said.text}"
            else:
                user = f"{user} {self._aside(said.text, rng)}"
        return [
            Turn(role="user", content=user, has_answer=gold == "user"),
            Turn(role="assistant", content=reply, has_answer=gold == "assistant"),
        ]

    def _aside(self, said: str, rng: random.Random) -> str:
        aside = rng.choice(ASIDES)
        if not aside.startswith("{") and not said.startswith(("I ", "$")):
            said = said[0].lower() + said[1:]
        return aside.format(said=said)

    def _chatter(self, rng: random.Random) -> str:
        """Something of the user on another topic than the question's."""
        kind = rng.choice(("attribute", "happening", "spending", "liking"))
        if kind == "attribute":
            attribute, item = self._other_attribute(rng)
            return self.word(attribute.say, item=item, value=rng.choice(attribute.values))
        if kind == "happening":
            event = rng.choice(self.free(HAPPENINGS, lambda one: (one.key, "")))
            return self.word(event.say, name=rng.choice(event.names), when="some time ago")
        if kind == "spending":
            bought = rng.choice(self.free(SPENDINGS, lambda one: (one.key, "")))
            cost, shop = rng.randint(5, 95), rng.choice(SHOPS)
            return self.word(bought.say, value=cost, shop=shop, when="some time ago")
        liking = rng.choice(self.free(LIKINGS, lambda one: (one.key, "")))
        like, dislike = rng.choice(liking.likes), rng.choice(liking.dislikes)
        return self.word(liking.say, like=like, dislike=dislike)

    def _general(self, rng: random.Random) -> str:
        attribute, item = self._other_attribute(rng)
        return self.word(attribute.assistant, item=item, value=rng.choice(attribute.values))

    def _other_attribute(self, rng: random.Random) -> tuple[Attribute, str]:
        pairs = [(a, i) for a in ATTRIBUTES for i in a.items]
        return rng.choice(self.free(pairs, lambda pair: (pair[0].key, pair[1])))
