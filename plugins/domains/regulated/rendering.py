"""Events being written: header, body, references, and filling them up with sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import blake2b
from random import Random
from typing import Final

from framework.records import Event
from framework.text.tokens import count_tokens
from plugins.domains.regulated.calendar import sample_day
from plugins.domains.regulated.noise import misspell
from plugins.domains.regulated.sampled import Sampled
from plugins.domains.regulated.spec import DocumentSpec, Spec

_TYPO_RATE: Final = 0.2
_HEADER_TOKENS: Final = 16
_LINE_TOKENS: Final = 12
_LENGTH: Final = (48, 92)
"""Tokens that an event is written up to: assumed."""


@dataclass(slots=True, kw_only=True)
class Draft:
    """An event being written. `lines` are (text, whether it is a line of its own)."""

    id: str
    spec_id: str
    kind: str
    title: str
    author: str
    day: date
    arrival: date
    order: float
    lines: list[tuple[str, bool]] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Header and body."""
        parts = [f"{self.day.isoformat()} | {self.title} | {self.author}\n"]
        after_line = True
        for text, own_line in self.lines:
            if not after_line:
                parts.append("\n" if own_line else " ")
            parts.append(text)
            if own_line:
                parts.append("\n")
            after_line = own_line
        return "".join(parts).rstrip("\n")

    def event(self) -> Event:
        """The event as it arrives."""
        return Event(
            id=self.id,
            text=self.text,
            time=self.day.isoformat(),
            kind=self.kind,
            metadata={"title": self.title, "author": self.author},
            edges=tuple(self.edges),
        )


class Writer:
    """Starts drafts and fills them up with sentences of their type. Shared with the filling."""

    def __init__(
        self, spec: Spec, sampled: Sampled, identity: str, cast: Mapping[str, str], rng: Random
    ) -> None:
        self.spec, self.sampled, self.cast, self.rng = spec, sampled, cast, rng
        self._identity = identity
        self._noisy = sampled.plan.stratum == "noisy"

    def id(self, name: str) -> str:
        """The event's id: it tells neither seed nor case, and is the same whatever else is written.

        The identity is that of its counterpart too, so that the events of both sort alike.
        """
        return f"ev-{blake2b(f'{self._identity}/{name}'.encode(), digest_size=5).hexdigest()}"

    def start(
        self,
        name: str,
        document: DocumentSpec,
        day: date | None = None,
        arrival: date | None = None,
    ) -> Draft:
        """An empty draft; `name` makes its id."""
        rng = self.rng
        if day is None:
            day = self.sampled.plan.intake + timedelta(days=sample_day(rng))
        return Draft(
            id=self.id(name),
            spec_id=document.id,
            kind=document.kind,
            title=self.say(document.title, day),
            author=self.say(document.authors[int(rng.random() * len(document.authors))], day),
            day=day,
            arrival=arrival or day,
            order=rng.random(),
        )

    def fill(self, draft: Draft, sentences: tuple[str, ...], limit: int | None = None) -> int:
        """Add sentences up to a drawn length, at most `limit` tokens; returns tokens in all.

        Statements already in the draft end up anywhere among them.
        """
        aim = self.rng.randint(*_LENGTH)
        if limit is not None:
            aim = min(aim, limit)
        if limit is None:
            # By lines, not by what they say: pairs differ in a value, not in what is around it.
            tokens = _HEADER_TOKENS + _LINE_TOKENS * len(draft.lines)
        else:
            tokens = count_tokens(draft.text)
        for template in self.rng.sample(sentences, len(sentences)):
            if tokens >= aim:
                break
            text = self.say(template, draft.day)
            if self._noisy and self.rng.random() < _TYPO_RATE:
                text = misspell(text, self.rng)
            cost = count_tokens(text)
            if limit is not None and tokens + cost > limit:
                continue
            draft.lines.insert(int(self.rng.random() * (len(draft.lines) + 1)), (text, False))
            tokens += cost
        return tokens

    def say(self, template: str, day: date) -> str:
        """A sentence of the domain's grammar."""
        text = self.spec.grammar.say(template, self.rng, day, self.cast)
        return text[:1].upper() + text[1:]
