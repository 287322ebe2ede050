"""The documents that a case must have.

They are its policy, the records that state its facts, corrections, the correspondence that settles
a point, the monitoring form. All in them but values, rules and thresholds is drawn with no regard
to the label. What they say of each fact and rule is kept as mentions, of which the gold is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Concatenate, Final, ParamSpec, TypeVar

from framework.text.tokens import count_tokens
from plugins.domains.regulated.calendar import sample_day
from plugins.domains.regulated.chains import chains_of, opening_of
from plugins.domains.regulated.noise import damage
from plugins.domains.regulated.outline import CURRENT, REPLY, REQUEST, RETIRED, make_outline
from plugins.domains.regulated.policy import Value
from plugins.domains.regulated.rendering import Draft, Writer
from plugins.domains.regulated.sampled import Revision, Sampled
from plugins.domains.regulated.spec import DocumentSpec, PointSpec, Spec
from plugins.domains.regulated.wording import Words, codes_in_order

P = ParamSpec("P")
T = TypeVar("T")


_RESTATED: Final = 0.3
_DAMAGED_COPIES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A verbatim sentence of an event that carries an item (kind, key), and the value in it."""

    kind: str
    key: str
    role: str
    value: Value
    text: str
    event_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The necessary documents of a case, what they mention, the reasoning point as it was worded.

    `tokens` : of all the drafts, an injected sentence left out. `injected` : that sentence, also
    where it was left out of the document `injected_in`.
    """

    tokens: int
    drafts: tuple[Draft, ...]
    mentions: tuple[Mention, ...]
    point: PointSpec
    point_slots: Mapping[str, str]
    injected_in: str
    cast: Mapping[str, str]
    injected: str = ""


def write(
    spec: Spec,
    sampled: Sampled,
    identity: str,
    rng: Random,
    intake: date,
    *,
    inject: bool,
    wording: Random | None = None,
) -> Content:
    """The necessary documents of a case. `inject=False` leaves an injected sentence out.

    wording : another stream for how things are said. The documents, their dates and what each of
        them states stay; the sentences that state it, and those around them, are others.
    """
    return _Necessary(spec, sampled, identity, rng, intake, wording).write(inject)


@dataclass(frozen=True, slots=True)
class _Hand:
    """Words and a writer that draw from one stream."""

    words: Words
    writer: Writer


class _Necessary:
    def __init__(
        self,
        spec: Spec,
        sampled: Sampled,
        identity: str,
        rng: Random,
        intake: date,
        wording: Random | None,
    ) -> None:
        self.spec, self.sampled, self.rng, self.intake = spec, sampled, rng, intake
        self.cast = spec.grammar.cast_of(rng, intake)
        self.outline = make_outline(spec, sampled, rng)

        def hand(stream: Random) -> _Hand:
            noisy = sampled.plan.stratum == "noisy"
            words = Words(spec, held_out=sampled.plan.held_out, vary=noisy, rng=stream)
            return _Hand(words, Writer(spec, sampled, identity, self.cast, stream))

        self.own = hand(rng)
        self.other = None if wording is None else hand(wording)
        self.writer = self.own.writer
        self.drafts: list[Draft] = []
        self.mentions: list[Mention] = []
        self.first_of: dict[str, str] = {}
        self.injected = ""

    def write(self, inject: bool) -> Content:
        self._policy()
        self._records()
        self._chain()
        for revision in self.sampled.revisions:
            self._revise(revision)
        point, slots = self._correspond()
        self._monitor()
        if self.sampled.plan.stratum == "noisy":
            self._damage()
        self.tokens = _tokens(self.drafts)
        injected_in = self._inject(inject) if self.sampled.plan.stratum == "injected" else ""
        return Content(
            tokens=self.tokens,
            drafts=tuple(self.drafts),
            mentions=tuple(self.mentions),
            point=point,
            point_slots=slots,
            injected_in=injected_in,
            cast=self.cast,
            injected=self.injected,
        )

    # ------------------------------------------------------------------------------------ wording

    def _worded(self, say: Callable[[_Hand], T]) -> T:
        """What `say` makes of the stream of wordings.

        The case's own stream goes on as if it had been asked, so that all else stays as it is.
        """
        own = say(self.own)
        return own if self.other is None else say(self.other)

    def _said(self, form: Callable[Concatenate[Words, P], str], *a: P.args, **k: P.kwargs) -> str:
        return self._worded(lambda hand: form(hand.words, *a, **k))

    def _phrase(self, forms: Sequence[str], day: date, cast: Mapping[str, str]) -> str:
        def say(hand: _Hand) -> str:
            rng = hand.writer.rng
            return self.spec.grammar.say(rng.choice(forms), rng, day, cast)

        return self._worded(say)

    def _fill(self, draft: Draft, sentences: tuple[str, ...]) -> None:
        """Sentences of its type around what a draft states."""
        stated = list(draft.lines)

        def fill(hand: _Hand) -> None:
            draft.lines = list(stated)
            hand.writer.fill(draft, sentences)

        self._worded(fill)

    # ------------------------------------------------------------------------------------- policy

    def _policy(self) -> None:
        """The policy in four parts: standing clauses, the rules in two, what is in force."""
        spec, policy = self.spec.policy, self.sampled.policy
        self.committee = self.writer.say(self.rng.choice(spec.authors), self.intake)
        olds = {amendment.old.id: amendment.old for amendment in self.sampled.amendments}
        rules = codes_in_order([olds.get(rule.id, rule) for rule in policy.rules])
        half = (len(rules) + 1) // 2
        opening, *clauses = self.rng.sample(spec.clauses, 3)
        self._policy_part(0, opening, general=("corrections", "open"))
        for n, part in enumerate((rules[:half], rules[half:])):
            draft = self._policy_part(n + 1, clauses[n])
            for rule in part:
                text = self._said(Words.rule, rule)
                draft.lines.append((text, True))
                self._mention("rule", rule.id, RETIRED if rule.id in olds else CURRENT, text, draft)
        draft = self._policy_part(3)
        for key, text in (
            ("rules_in_force", self._said(Words.in_force, policy)),
            ("precedence", self._said(Words.precedence, policy)),
            ("remaining", self._said(Words.remaining, policy)),
        ):
            draft.lines.append((text, True))
            self._mention("passage", key, CURRENT, text, draft)
        for i, amendment in enumerate(self.sampled.amendments):
            self._amend(i, amendment.old.id)

    def _policy_part(self, n: int, *clauses: str, general: Sequence[str] = ()) -> Draft:
        name = f"policy/{n}"
        day = self._day(name) or self.intake + timedelta(days=sample_day(self.rng))

        def standing(hand: _Hand) -> list[tuple[str, bool]]:
            lines = [*clauses, *map(hand.words.general, general)]
            return [(hand.writer.say(line, day), True) for line in lines]

        draft = Draft(
            id=self.writer.id(name),
            spec_id="policy",
            kind="policy",
            title=f"{self.spec.policy.title} (part {n + 1} of 4)",
            author=self.committee,
            day=day,
            arrival=day,
            order=self.rng.random(),
            lines=self._worded(standing),
        )
        self.drafts.append(draft)
        return draft

    def _amend(self, i: int, rule_id: str) -> None:
        document = self.spec.used("amendment")[0]
        draft = self._start(f"amendment/{i}", document)
        new = next(rule for rule in self.sampled.policy.rules if rule.id == rule_id)
        text = self._said(Words.rule, new, amended=draft.day)
        opening = self.writer.say(self.rng.choice(document.sentences), draft.day)
        draft.lines += [(opening, True), (text, True)]
        old = next(m for m in self.mentions if m.kind == "rule" and m.key == rule_id)
        draft.edges.append(("supersedes", old.event_id))
        self._mention("rule", rule_id, CURRENT, text, draft)
        self.drafts.append(draft)

    # ------------------------------------------------------------------------------------ records

    def _records(self) -> None:
        for name, (document, statements) in self.outline.records.items():
            draft = self._start(name, document)
            for key, value, role in statements:
                self._state(draft, key, value, role)
            self._fill(draft, document.sentences)
            self.drafts.append(draft)

    def _chain(self) -> None:
        """Each entry refers to what came before it of the same figure, at least a day earlier."""
        drafts = {draft.id: draft for draft in self.drafts}
        for figure, entries in chains_of(self.spec).items():
            before = [drafts[first] for first in [self.first_of.get(opening_of(figure))] if first]
            for key in entries:
                draft = drafts[self.first_of[key]]
                earlier = [other for other in before if other.day < draft.day]
                before.append(draft)
                if earlier:
                    other = earlier[-1]
                    form = self._worded(lambda hand: hand.writer.rng.choice(self.spec.references))
                    text = form.replace("{title}", other.title)
                    draft.lines.append((text.replace("{date}", other.day.isoformat()), False))
                    draft.edges.append(("cites", other.id))

    def _start(self, name: str, document: DocumentSpec, arrival: date | None = None) -> Draft:
        """An empty draft on the day planned for it, or on any."""
        return self.writer.start(name, document, self._day(name), arrival)

    def _day(self, name: str) -> date | None:
        days = self.outline.days.get(name)
        return None if days is None else self.intake + timedelta(days=days)

    def _state(self, draft: Draft, key: str, value: Value, role: str) -> None:
        as_line = draft.kind == "form" and self.rng.random() < 0.7
        text = self._said(Words.line if as_line else Words.fact, key, value)
        draft.lines.append((text, as_line))
        self._mention("fact", key, role, text, draft, value)
        self.first_of.setdefault(key, draft.id)

    # ---------------------------------------------------------------------------------- revisions

    def _revise(self, revision: Revision) -> None:
        """Corrections in order of date; then late mentions of what they retired."""
        key, current = revision.key, self.sampled.facts[revision.key]
        documents = self.spec.used("correction")
        steps = [*revision.retired, current]
        if revision.rescinded:
            steps = [current, revision.retired[0]]
        previous = self.first_of[key]
        for n in range(1, len(steps)):
            name = f"correction/{key}/{n}"
            draft = self._start(name, self.rng.choice(documents))
            day = draft.day
            word = Words.correction
            if self.rng.random() < _RESTATED:
                word = Words.restatement
            text = self._said(word, key, steps[n], steps[n - 1], day)
            role = CURRENT if steps[n] == current else RETIRED
            self._revision_event(draft, key, role, steps[n], text, previous)
            previous = draft.id
        if revision.rescinded:
            draft = self._start(f"rescission/{key}", self.rng.choice(documents))
            text = self._said(Words.rescission, key, current, day)
            self._revision_event(draft, key, CURRENT, current, text, previous)
        old = revision.retired[0]
        if key in self.outline.rementioned:
            document = self.rng.choice(self.spec.used("remention"))
            draft = self._start(f"remention/{key}", document)
            text = self._said(Words.remention, key, old, draft.day)
            self._revision_event(draft, key, RETIRED, old, text, None)
        if key in self.outline.late:
            self._arrive_late(key, old)

    def _arrive_late(self, key: str, old: Value) -> None:
        """An older document that plainly states the retired value arrives after the correction."""
        places = self.spec.facts[key].documents
        document = self.spec.documents[self.rng.choice(places)]
        draft = self._start(f"late/{key}", document, arrival=self._day(f"arrival/{key}"))
        text = self._said(Words.fact, key, old)
        draft.lines.append((text, False))
        self._mention("fact", key, RETIRED, text, draft, old)
        self._fill(draft, document.sentences)
        self.drafts.append(draft)

    def _revision_event(
        self, draft: Draft, key: str, role: str, value: Value, text: str, superseded: str | None
    ) -> None:
        draft.lines.append((text, False))
        if superseded is not None:
            draft.edges.append(("supersedes", superseded))
        self._mention("fact", key, role, text, draft, value)
        self._fill(draft, self.spec.documents[draft.spec_id].sentences)
        self.drafts.append(draft)

    # -------------------------------------------------------------------------- correspondence etc.

    def _correspond(self) -> tuple[PointSpec, dict[str, str]]:
        """The round of letters that settles the case's reasoning point."""
        point = self.rng.choice(self.spec.points)
        slots = {name: self.rng.choice(values) for name, values in point.slots.items()}
        asked = self._start(REQUEST, self.rng.choice(self.spec.used("request")))
        cast = {**self.cast, **slots}
        asked.lines.append((self._phrase(point.requests, asked.day, cast), False))
        self._fill(asked, self.spec.documents[asked.spec_id].sentences)
        document = self.rng.choice(self.spec.used("reply"))
        reply = self._start(REPLY, document)
        text = self._phrase(point.replies, reply.day, cast)
        reply.lines.append((text, False))
        reply.edges += [("cites", asked.id)]
        self._mention("reason", point.id, CURRENT, text, reply)
        self._fill(reply, document.sentences)
        self.drafts += [asked, reply]
        return point, slots

    def _monitor(self) -> None:
        """The form on which protected attributes are collected, for monitoring alone."""
        document = self.spec.used("monitoring")[0]
        draft = self.writer.start("monitoring", document)
        self._fill(draft, document.sentences)
        for name, value in self.sampled.protected.items():
            label = name.replace("_", " ")
            draft.lines.append((f"{label[:1].upper()}{label[1:]}: {value}", True))
        self.drafts.append(draft)

    def _damage(self) -> None:
        """Badly scanned second copies: they can't be read, and the first copies are intact."""
        current = [m for m in self.mentions if m.kind == "fact" and m.role == CURRENT]
        for n, mention in enumerate(self.rng.sample(current, min(_DAMAGED_COPIES, len(current)))):
            places = self.spec.facts[mention.key].documents
            document = self.spec.documents[self.rng.choice(places)]
            draft = self.writer.start(f"damaged/{n}", document)
            scanner = Random(self.rng.random())
            draft.lines.append((damage(mention.text, scanner), False))
            self._fill(draft, document.sentences)
            self.drafts.append(draft)

    def _inject(self, inject: bool) -> str:
        """A letter that tries to instruct the reviewer; without the sentence it is a plain one."""
        document = self.rng.choice(self.spec.used("filler"))
        draft = self.writer.start("injected", document)
        self._fill(draft, document.sentences)
        place = self.rng.randint(0, len(draft.lines))
        self.injected = self._said(Words.injection, self.sampled.plan.injected)
        self.drafts.append(draft)
        self.tokens = _tokens(self.drafts)
        if inject:
            draft.lines.insert(place, (self.injected, False))
        return draft.id

    def _mention(
        self, kind: str, key: str, role: str, text: str, draft: Draft, value: Value = ""
    ) -> None:
        self.mentions.append(
            Mention(kind=kind, key=key, role=role, value=value, text=text, event_id=draft.id)
        )


def _tokens(drafts: Sequence[Draft]) -> int:
    return sum(count_tokens(draft.text) for draft in drafts)
